#compdef rtrack
# SPDX-License-Identifier: MIT
# Zsh completion for rtrack(1). The subcommands, their options and the words of these are those that
# "rtrack help" shows.

# Complete the names of fields, with commas between them.
_rtrack_fields() {
  local -aU names
  names=(${${(f)"$(rtrack info --fields)"}%% *})
  _values -s , field $names
}

# Names of running processes that mean themselves as regular expressions, but for ".".
_rtrack_names() {
  local -aU names
  names=(${(f)"$(cat /proc/[0-9]*/comm 2>/dev/null | grep -x '[A-Za-z0-9_./@-]*')"})
  compadd -a names
}

# Directories of cgroups, below the usual mounts.
_rtrack_cgroups() {
  find /sys/fs/cgroup -type d 2>/dev/null
}

_rtrack_units() {
  local -aU names
  names=(${(f)"$(_rtrack_cgroups | grep -o '[^/]*\.service$')"})
  compadd -a names
}

# Ids of containers. The monitor of one has a cgroup of its own.
_rtrack_containers() {
  local -aU names
  names=(${(f)"$(_rtrack_cgroups | grep -v conmon | grep -o '[0-9a-f]\{64\}')"})
  compadd -a names
}

# Returns in $reply how _arguments completes the argument $1 of an option with the help $2.
_rtrack_argument() {
  local word
  local -a found
  case $1 in
    FILE | DIR) reply=_files ;;
    PID) reply=_pids ;;
    NAMES) reply=_rtrack_fields ;;
    REGEX) reply=_rtrack_names ;;
    NAME) reply=_rtrack_units ;;
    ID) reply=_rtrack_containers ;;
    *)
      for word in ${(s:, :)${${${2%%;*}##*: }// or /, }}; do
        [[ $word =~ '^[a-z][a-z0-9+-]*$' ]] && found+=$word
      done
      reply="($found)"
      ;;
  esac
}

# Returns in $lines the help of subcommand $1 with a line for each option. A text may go on in the
# next line, far from the margin.
_rtrack_help() {
  local line
  lines=()
  rtrack help $1 | while IFS= read -r line; do
    if [[ $line == '          '* ]]; then
      lines[-1]+=" ${line##*  }"
    else
      lines+=("$line")
    fi
  done
}

# Returns in $specs the options of subcommand $1, for _arguments.
_rtrack_options() {
  local line short long help
  local -a lines
  local form='^  (-(.), |    )--([a-z-]+)(( |\[=)([A-Z]+)\]?)? +(.*)$'
  local -a match mbegin mend
  specs=()
  _rtrack_help $1
  for line in $lines; do
    [[ $line =~ $form ]] || continue
    short=${match[2]:+-$match[2]} long=--$match[3] help=${${match[7]//\[/\\[}//\]/\\]}
    case $match[5] in
      ' ')
        _rtrack_argument $match[6] $match[7]
        specs+="($short $long)${long}=[$help]:$match[6]:$reply"
        [[ -n $short ]] && specs+="($short $long)${short}+[$help]:$match[6]:$reply"
        ;;
      '[=')
        _rtrack_argument $match[6] $match[7]
        specs+="($long)${long}=-[$help]::$match[6]:$reply"
        ;;
      *)
        specs+="($short $long)${long}[$help]"
        [[ -n $short ]] && specs+="($short $long)${short}[$help]"
        ;;
    esac
  done
}

_rtrack() {
  local line name reply
  local -a subcommands specs match mbegin mend
  if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
    rtrack --help | while IFS= read -r line; do
      [[ $line =~ '^  ([a-z]+) +(.*)$' ]] && subcommands+="$match[1]:$match[2]"
    done
    _describe command subcommands
    return
  fi
  name=$words[2]
  shift words
  ((CURRENT--))
  _rtrack_options $name
  case $name in
    run | trace)
      _arguments -S -A '-*' $specs '(-)1:program:_command_names -e' '*::argument:_normal'
      ;;
    rusage)
      if ((${words[(i)--]} < CURRENT)); then
        ((CURRENT -= ${words[(i)--]}))
        shift ${words[(i)--]} words
        _normal
      else
        _arguments -S $specs '*:process:_pids'
      fi
      ;;
    attach) _arguments -S $specs '*:process:_pids' ;;
    *) _arguments -S $specs ;;
  esac
}

_rtrack "$@"
