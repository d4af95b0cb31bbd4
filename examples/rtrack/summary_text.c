/* SPDX-License-Identifier: MIT */
/* The summary as text. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "gpu.h"
#include "summary.h"
#include "units.h"
#include "utf8.h"

enum { LONGEST_TITLE = 60 };

/* SGR codes of the terminal. */
#define BOLD "1"
#define DIM "2"
#define GREEN "32"
#define RED "31"
#define YELLOW "33"

/* A text, and the terminal that will show it. */
struct page {
	struct text *out;
	const struct terminal *terminal;
};

static void add_colored(const struct page *p, const char *color, const char *s)
{
	if (p->terminal->has_color)
		text_printf(p->out, "\033[%sm%s\033[0m", color, s);
	else
		text_add(p->out, s);
}

static void begin_line(const struct page *p, const char *label)
{
	char padded[32];

	snprintf(padded, sizeof(padded), "  %-11s ", label);
	add_colored(p, DIM, padded);
}

static void end_line(const struct page *p)
{
	text_add(p->out, "\n");
}

static void separate(const struct page *p)
{
	text_add(p->out, "   ");
}

/* Returns what stands before a figure that is not exact. */
static const char *reservation(struct marks marks, uint64_t bit)
{
	if (marks.estimated & bit)
		return "about ";
	return marks.partial & bit ? "at least " : "";
}

/* Add a figure and its name. A lower bound of 0 and a missing figure are shown as "unknown". */
static void add_figure(const struct page *p, struct marks marks, uint64_t bit, struct amount amount,
                       const char *name)
{
	if (!is_known(marks, bit) || (amount.is_zero && marks.partial & bit))
		text_printf(p->out, "unknown %s", name);
	else
		text_printf(p->out, "%s%s %s", reservation(marks, bit), amount.s, name);
}

/* Add a title, cut to LONGEST_TITLE characters. */
static void add_title(const struct page *p, const struct text *title)
{
	struct text head = { 0 };
	size_t len = 0, columns = 0;

	while (len < title->len && columns < LONGEST_TITLE) {
		len += utf8_length(title->data + len);
		columns++;
	}
	if (title->len > 0)
		text_bytes(&head, title->data, len);
	if (len < title->len)
		text_add(&head, "...");
	add_colored(p, BOLD, head.len ? head.data : "");
	text_free(&head);
}

static void add_command(const struct page *p, const char *const *argv)
{
	struct text title = { 0 };

	for (int i = 0; argv[i]; i++) {
		if (i > 0)
			text_add(&title, " ");
		utf8_add_printable(&title, argv[i], p->terminal->has_utf8);
	}
	add_title(p, &title);
	text_free(&title);
}

static void add_how_it_ended(const struct page *p, const struct usage *u)
{
	char words[80];

	if (u->signal > 0)
		snprintf(words, sizeof(words), "killed by signal %d (%s)", (int)u->signal,
		         strsignal(u->signal));
	else if (u->exit_code >= 0)
		snprintf(words, sizeof(words), "exit %d", (int)u->exit_code);
	else
		snprintf(words, sizeof(words), "exit status lost");
	separate(p);
	if (u->timed_out)
		add_colored(p, RED, "timed out, ");
	add_colored(p, u->exit_code == 0 ? GREEN : RED, words);
}

static void add_tree_title(const struct page *p, const struct usage *u)
{
	text_add(p->out, "rtrack: ");
	if (u->argv) {
		add_command(p, u->argv);
		add_how_it_ended(p, u);
	} else {
		struct text title = { 0 };

		text_printf(&title, "process %d", (int)u->pid);
		add_title(p, &title);
		separate(p);
		text_add(p->out, u->has_ended ? "ended" : "still running");
		text_free(&title);
	}
	end_line(p);
}

static void add_time(const struct page *p, const struct usage *u)
{
	begin_line(p, "time");
	text_printf(p->out, "%s wall", human_time(u->wall_ns).s);
	separate(p);
	add_figure(p, u->marks, RT_HAS_CPU, human_time(u->cpu_user_ns), "user");
	separate(p);
	add_figure(p, u->marks, RT_HAS_CPU, human_time(u->cpu_system_ns), "system");
	if (u->wall_ns > 0 && is_known(u->marks, RT_HAS_CPU))
		text_printf(p->out, "   %.2f cores", (double)usage_cpu_ns(u) / (double)u->wall_ns);
	end_line(p);
}

static void add_graph(const struct page *p, const struct history *h, double full)
{
	struct text graph = { 0 };

	history_draw(h, full, &graph, p->terminal->has_utf8);
	if (graph.len > 0) {
		add_colored(p, GREEN, graph.data);
		separate(p);
	}
	text_free(&graph);
}

static void add_cores(const struct page *p, const struct history *cores)
{
	if (cores->used < 2)
		return;
	begin_line(p, "cpu");
	add_graph(p, cores, 1);
	text_printf(p->out, "peak %.2f cores", cores->peak);
	end_line(p);
}

static void add_tree_memory(const struct page *p, const struct usage *u)
{
	begin_line(p, "memory");
	if (u->memory->used > 1)
		add_graph(p, u->memory, 0);
	if (usage_peak_kind(u))
		text_printf(p->out, "peak %s%s tree%s", reservation(u->marks, RT_HAS_PEAK_TREE),
		            human_bytes(u->peak_tree_bytes).s,
		            u->peak_tree_kind == RT_PEAK_CGROUP ? " (cgroup)" : "");
	else
		text_add(p->out, "peak unknown");
	separate(p);
	add_figure(p, u->marks, RT_HAS_PEAK_RSS, human_bytes(u->peak_rss_bytes), "largest process");
	end_line(p);
}

/* Add the bounds of the memory peak of the tree, if it is not known exactly. */
static void add_memory_bounds(const struct page *p, const struct usage *u)
{
	if (u->peak_tree_low_bytes == 0 || u->peak_tree_low_bytes == u->peak_tree_high_bytes)
		return;
	begin_line(p, "");
	text_printf(p->out, "tree peak is at least %s", human_bytes(u->peak_tree_low_bytes).s);
	if (u->peak_tree_high_bytes != UINT64_MAX)
		text_printf(p->out, " and at most %s", human_bytes(u->peak_tree_high_bytes).s);
	end_line(p);
}

static void add_gpu(const struct page *p, const struct gpu_use *use)
{
	if (!use->is_wanted)
		return;
	begin_line(p, "gpu");
	gpu_write_text(p->out, use);
	end_line(p);
}

static void add_storage(const struct page *p, const struct usage *u)
{
	begin_line(p, "storage");
	add_figure(p, u->marks, RT_HAS_IO, human_bytes(u->read_bytes), "read");
	separate(p);
	add_figure(p, u->marks, RT_HAS_IO, human_bytes(u->write_bytes), "written");
	end_line(p);
}

static void add_processes(const struct page *p, const struct usage *u, bool is_long)
{
	begin_line(p, "processes");
	add_figure(p, u->marks, RT_HAS_PROCESSES, human_count(u->processes),
	           u->marks.valid & RT_HAS_PROCESSES ? "in all" : "seen");
	if (is_long && is_known(u->marks, RT_HAS_PROCESSES_PEAK))
		text_printf(p->out, "   at most %s at once", human_count(u->processes_peak).s);
	if (u->left_running > 0) {
		separate(p);
		text_printf(p->out, "%s %s running", human_count(u->left_running).s,
		            u->argv ? "left" : "still");
	}
	end_line(p);
}

static void add_counters(const struct page *p, const struct usage *u)
{
	begin_line(p, "faults");
	add_figure(p, u->marks, RT_HAS_FAULTS, human_count(u->minor_faults), "minor");
	separate(p);
	add_figure(p, u->marks, RT_HAS_FAULTS, human_count(u->major_faults), "major");
	end_line(p);
	begin_line(p, "switches");
	add_figure(p, u->marks, RT_HAS_CTXSW, human_count(u->voluntary_switches), "voluntary");
	separate(p);
	add_figure(p, u->marks, RT_HAS_CTXSW, human_count(u->involuntary_switches), "involuntary");
	end_line(p);
}

static void add_cgroup(const struct page *p, const struct usage *u)
{
	if (!((u->marks.valid | u->marks.partial) &
	      (RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_IO | RT_HAS_CGROUP_TASKS)))
		return;
	begin_line(p, "cgroup");
	add_figure(p, u->marks, RT_HAS_CGROUP_MEMORY, human_bytes(u->cgroup_memory_peak_bytes),
	           "peak");
	separate(p);
	add_figure(p, u->marks, RT_HAS_CGROUP_IO, human_bytes(u->cgroup_read_bytes), "read");
	separate(p);
	add_figure(p, u->marks, RT_HAS_CGROUP_IO, human_bytes(u->cgroup_write_bytes), "written");
	separate(p);
	add_figure(p, u->marks, RT_HAS_CGROUP_TASKS, human_count(u->cgroup_tasks_peak),
	           "tasks at peak");
	end_line(p);
}

static void add_cpu_bounds(const struct page *p, const struct usage *u)
{
	begin_line(p, "");
	text_printf(p->out, "CPU time is at least %s", human_time(u->cpu_low_ns).s);
	if (u->cpu_estimate_ns > u->cpu_low_ns)
		text_printf(p->out, ", probably %s", human_time(u->cpu_estimate_ns).s);
	if (u->cpu_high_ns != UINT64_MAX)
		text_printf(p->out, " and at most %s", human_time(u->cpu_high_ns).s);
	end_line(p);
}

static void add_accounting(const struct page *p, const struct usage *u)
{
	const struct reason *reason;

	begin_line(p, "accounting");
	text_printf(p->out, "%s, ", accounting_name(u->accounting));
	add_colored(p, u->complete ? GREEN : YELLOW,
	            u->complete ? "complete" : "may be incomplete:");
	end_line(p);
	for (size_t i = 0; (reason = reason_at(i)); i++) {
		if (!(u->reasons & reason->bit))
			continue;
		begin_line(p, "");
		if (reason->bit == RT_REASON_UNVERIFIED && u->error_bound_ns != UINT64_MAX)
			text_printf(p->out, "up to %s of CPU may be missing: ",
			            human_time(u->error_bound_ns).s);
		text_printf(p->out, "%s", reason->words);
		end_line(p);
	}
	if (u->members_skipped > 0) {
		begin_line(p, "");
		text_printf(p->out, "%s processes were left out of a sample",
		            human_count(u->members_skipped).s);
		end_line(p);
	}
	if (!u->complete && is_known(u->marks, RT_HAS_CPU))
		add_cpu_bounds(p, u);
}

static void add_overhead(const struct page *p, uint64_t overhead_ns, uint64_t wall_ns,
                         uint64_t samples)
{
	begin_line(p, "overhead");
	text_printf(p->out, "%s CPU for %s sample%s", human_time(overhead_ns).s,
	            human_count(samples).s, samples == 1 ? "" : "s");
	if (wall_ns > 0)
		text_printf(p->out, "   %.2f %% of one core",
		            100.0 * (double)overhead_ns / (double)wall_ns);
	end_line(p);
}

void text_of_tree(struct text *out, const struct terminal *terminal, const struct usage *u,
                  bool is_long)
{
	const struct page page = { out, terminal };

	add_tree_title(&page, u);
	add_time(&page, u);
	add_cores(&page, u->cores);
	add_tree_memory(&page, u);
	if (is_long)
		add_memory_bounds(&page, u);
	add_gpu(&page, &u->gpu);
	add_storage(&page, u);
	add_processes(&page, u, is_long);
	if (is_long) {
		add_counters(&page, u);
		add_cgroup(&page, u);
	}
	add_accounting(&page, u);
	if (is_long)
		add_overhead(&page, u->overhead_cpu_ns, u->wall_ns, u->samples);
}

static void add_system_memory(const struct page *p, const struct follow *f)
{
	const struct rt_metrics *m = &f->now;

	begin_line(p, "memory");
	if (f->memory.used > 1)
		add_graph(p, &f->memory, (double)m->memory_total_bytes);
	if (f->memory.used > 0)
		text_printf(p->out, "peak %s used", human_bytes((uint64_t)f->memory.peak).s);
	else
		text_add(p->out, "peak unknown");
	separate(p);
	add_figure(p, metrics_marks(m), RT_HAS_MEMORY, human_bytes(m->memory_total_bytes),
	           "in all");
	end_line(p);
}

static void add_traffic(const struct page *p, const struct rt_delta *d)
{
	begin_line(p, "storage");
	add_figure(p, delta_marks(d), RT_HAS_DISK, human_bytes(d->disk_read_bytes), "read");
	separate(p);
	add_figure(p, delta_marks(d), RT_HAS_DISK, human_bytes(d->disk_write_bytes), "written");
	end_line(p);
	begin_line(p, "network");
	add_figure(p, delta_marks(d), RT_HAS_NETWORK, human_bytes(d->network_receive_bytes),
	           "received");
	separate(p);
	add_figure(p, delta_marks(d), RT_HAS_NETWORK, human_bytes(d->network_transmit_bytes),
	           "sent");
	end_line(p);
}

void text_of_system(struct text *out, const struct terminal *terminal, const struct follow *f,
                    bool is_long)
{
	const struct page page = { out, terminal };
	const struct gpu_use gpu = gpu_use_of(f);
	struct rt_delta total;

	rt_diff(&f->base, &f->now, &total, sizeof(total));
	text_add(out, "rtrack: ");
	add_colored(&page, BOLD, "system");
	end_line(&page);
	begin_line(&page, "time");
	text_printf(out, "%s wall   ", human_time(total.interval_ns).s);
	add_figure(&page, delta_marks(&total), RT_HAS_CPU, human_time(total.cpu_user_ns), "user");
	separate(&page);
	add_figure(&page, delta_marks(&total), RT_HAS_CPU, human_time(total.cpu_system_ns),
	           "system");
	if (is_known(delta_marks(&total), RT_HAS_CPU | RT_HAS_RATE))
		text_printf(out, "   %.2f of %s cores", total.cores_used,
		            human_count(f->now.cpus_online).s);
	end_line(&page);
	add_cores(&page, &f->cores);
	add_system_memory(&page, f);
	add_gpu(&page, &gpu);
	add_traffic(&page, &total);
	if (is_long)
		add_overhead(&page, f->now.self_cpu_ns, total.interval_ns, f->samples);
}
