# SPDX-License-Identifier: MIT
# Fish completion for rtrack(1). The subcommands, their options and the words of these are those
# that "rtrack help" shows.

# Print the help of subcommand $argv[1] with a line for each option. A text may go on in the next
# line, far from the margin.
function __rtrack_help
    string replace -ra '\n {10,}' ' ' -- (rtrack help $argv[1] | string collect)
end

# Print the directories of cgroups, below the usual mounts.
function __rtrack_cgroups
    find /sys/fs/cgroup -type d 2>/dev/null
end

# Print the options of subcommand $argv[1] that have an argument. E.g.: -i and --interval.
function __rtrack_with_argument
    __rtrack_help $argv[1] | string replace -rf '^  (-.)?,? +(--[a-z-]+) [A-Z].*' '$1 $2' |
        string split -n ' '
end

# Whether the current word is of subcommand $argv[1], not of a program that this is to run.
function __rtrack_is_of
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]; or return 1
    contains $argv[1] run trace; or return 0
    set -l with_argument (__rtrack_with_argument $argv[1])
    set -l i 3
    while set -q words[$i]
        string match -qr -- '^-.*[^-]' $words[$i]; or return 1
        contains -- $words[$i] $with_argument; and set i (math $i + 1)
        set i (math $i + 1)
    end
end

# Complete the argument $argv[1] of an option with this help.
function __rtrack_argument
    switch $argv[1]
        case FILE DIR
            __fish_complete_path (commandline -ct)
        case PID
            __fish_complete_pids
        case NAMES
            __fish_complete_list , "rtrack info --fields | string match -r '^[^ ]+' | sort -u"
        case REGEX
            # A regular expression takes other characters not as themselves, but for ".".
            cat /proc/*/comm 2>/dev/null | string match -r '^[A-Za-z0-9_./@-]+$' | sort -u
        case NAME
            __rtrack_cgroups | string match -r '[^/]*\.service$' | sort -u
        case ID
            # The monitor of a container has a cgroup of its own.
            __rtrack_cgroups | string match -v '*conmon*' | string match -r '[0-9a-f]{64}' |
                sort -u
        case '*'
            string replace -r ';.*' '' -- $argv[2] | string replace -r '.*: ' '' |
                string split ', ' | string split ' or ' | string match -r '^[a-z][a-z0-9+-]*$'
    end
end

complete -c rtrack -f
for text in (rtrack --help | string match -r '^  [a-z]+ .*')
    string match -qr '^  (?<name>[a-z]+) +(?<about>.*)' -- $text
    complete -c rtrack -n 'test (count (commandline -opc)) -eq 1' -a $name -d $about
    complete -c rtrack -n '__rtrack_is_of help' -a $name -d $about
    test $name = help; and continue
    for option in (__rtrack_help $name | string match -r '^  (?:-.,|   ) --.*')
        string match -qr '^  (?:-(?<short>.),)? *--(?<long>[a-z-]+)(?<argument>[^ ]*(?: [A-Z]+)?)'\
' +(?<help>.*)' -- $option
        set -l more
        test -n "$short"; and set more -s $short
        test -n "$argument"; and set -a more -a "(__rtrack_argument $(string escape -- \
            (string replace -ra '[^A-Z]' '' -- $argument) $help | string join ' '))"
        string match -q ' *' -- $argument; and set -a more -x
        complete -c rtrack -n "__rtrack_is_of $name" -l $long -d $help $more
    end
end
for name in run trace
    complete -c rtrack -n "contains $name (commandline -opc)[2]" \
        -xa "(__fish_complete_subcommand --fcs-skip=2 (__rtrack_with_argument $name))"
end
complete -c rtrack -n '__rtrack_is_of attach' -xa '(__fish_complete_pids)'
complete -c rtrack -n '__rtrack_is_of rusage; and not contains -- -- (commandline -opc)' \
    -xa '(__fish_complete_pids)'
complete -c rtrack -n '__rtrack_is_of rusage; and contains -- -- (commandline -opc)' \
    -xa '(__fish_complete_subcommand --fcs-skip=(contains -i -- -- (commandline -opc)))'
