/* SPDX-License-Identifier: MIT */
/* The file of a program: which one a name means, and what it needs to be executed. */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/message.h"

enum {
	PATH_BYTES = 4096,
	HEAD_BYTES = 256,     /* as much of a first line as the kernel reads */
	INTERPRETERS_MAX = 5, /* a script may be the interpreter of another */
};

static bool is_executable_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int program_find(const char *name, char *path, size_t size)
{
	const char *dir = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return strlen(name) < size && is_executable_file(path) ? 0 : -ENOENT;
	}
	for (dir = dir ? dir : "/bin:/usr/bin"; *name && dir;) {
		const char *end = strchr(dir, ':');
		int len = end ? (int)(end - dir) : (int)strlen(dir);

		/* An empty entry of PATH is the working directory. */
		snprintf(path, size, "%.*s/%s", len ? len : 1, len ? dir : ".", name);
		if (is_executable_file(path))
			return 0;
		dir = end ? end + 1 : NULL;
	}
	return -ENOENT;
}

const char **program_as_script(const char *const *argv)
{
	static char path[PATH_BYTES]; /* outlives the array, which points to it */
	const char **script;
	size_t count = 0;

	if (program_find(argv[0], path, sizeof(path)) < 0)
		return NULL;
	while (argv[count])
		count++;
	script = calloc(count + 2, sizeof(*script));
	if (!script)
		return NULL;
	script[0] = "/bin/sh";
	script[1] = path;
	memcpy(&script[2], &argv[1], count * sizeof(*script)); /* with the final NULL */
	return script;
}

static bool read_at(int fd, void *data, size_t size, uint64_t offset)
{
	return pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

/* Get the loader of an ELF file of this machine's word size. */
static bool read_loader(int fd, char *out, size_t size)
{
	ElfW(Ehdr) head;
	ElfW(Phdr) part;

	if (!read_at(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_phentsize != sizeof(part))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (!read_at(fd, &part, sizeof(part), head.e_phoff + i * sizeof(part)))
			return false;
		if (part.p_type != PT_INTERP)
			continue;
		if (part.p_filesz == 0 || part.p_filesz > size ||
		    !read_at(fd, out, part.p_filesz, part.p_offset))
			return false;
		out[part.p_filesz - 1] = '\0';
		return true;
	}
	return false;
}

/* Get the interpreter of a script. */
static bool read_first_line(int fd, char *out, size_t size)
{
	char head[HEAD_BYTES + 1] = "", *word = head + 2;
	ssize_t len = pread(fd, head, HEAD_BYTES, 0);

	if (len < 3 || head[0] != '#' || head[1] != '!')
		return false;
	word += strspn(word, " \t");
	word[strcspn(word, " \t\n")] = '\0';
	snprintf(out, size, "%s", word);
	return *out != '\0';
}

static bool read_interpreter(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool has_one;

	if (fd < 0)
		return false;
	has_one = read_first_line(fd, out, size) || read_loader(fd, out, size);
	close(fd);
	return has_one;
}

/* Returns true if a program cannot be executed because of its interpreter, and sets its path. E.g.:
 * a script begins with #!/usr/bin/pyhton3. */
static bool lacks_interpreter(const char *name, char *interpreter, size_t size)
{
	char path[PATH_BYTES];

	if (program_find(name, path, sizeof(path)) < 0)
		return false;
	for (int i = 0; i < INTERPRETERS_MAX && read_interpreter(path, interpreter, size); i++) {
		if (!is_executable_file(interpreter))
			return true;
		snprintf(path, sizeof(path), "%s", interpreter);
	}
	return false;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns true for a command line in quotes. E.g.: 'ls -l', 'cd src && make'. */
static bool is_command_line(const char *name)
{
	size_t len = strcspn(name, " \t");
	char first[PATH_BYTES], path[PATH_BYTES];

	if (!name[len] || len >= sizeof(first))
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)len, name);
	return strpbrk(name, "|&;<>$") || program_find(first, path, sizeof(path)) == 0;
}

void program_report_failed_start(const char *name, int err)
{
	char interpreter[256];

	if ((err == -ENOENT || err == -EACCES) &&
	    lacks_interpreter(name, interpreter, sizeof(interpreter)))
		warn("cannot run '%s': its interpreter '%s' is missing or cannot be executed", name,
		     interpreter);
	else if (err == -EACCES && is_directory(name))
		warn("cannot run '%s': it is a directory", name);
	else if (err == -ENOENT && is_command_line(name))
		warn("cannot run '%s': its quotes make it one word; leave them out, or write "
		     "sh -c '...'",
		     name);
	else
		warn("cannot run '%s': %s", name, start_error_words(name, err));
}
