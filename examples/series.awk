# SPDX-License-Identifier: MIT
# Draw a CSV series of rtrack as text: at most 16 equal slices of the run, one line each.
# Variable: cpus, the number of CPUs that a full bar stands for. ~ marks an estimate.
BEGIN {
	FS = ","
	width = 24
}

function bar(share,    text)
{
	if (share > 1)
		share = 1
	text = sprintf("%*s", int(share * width + 0.5), "")
	gsub(/ /, "#", text)
	return sprintf("%-*s", width, text)
}

function slice(first, last,    i, sum, peak, most_processes, mark)
{
	sum = peak = most_processes = 0
	mark = " "
	for (i = first; i <= last; i++) {
		sum += cores[i]
		if (memory[i] > peak) {
			peak = memory[i]
			mark = estimated[i] ? "~" : " "
		}
		if (processes[i] > most_processes)
			most_processes = processes[i]
	}
	sum /= last - first + 1
	printf "%8.1f  %5.2f %s  %s%8.1f %s  %8d\n", time[last] - time[1], sum, bar(sum / cpus),
	       mark, peak, bar(most_memory ? peak / most_memory : 0), most_processes
}

NR == 1 {
	for (i = 1; i <= NF; i++)
		column[$i] = i
	next
}

{
	rows++
	time[rows] = $column["timestamp"]
	cores[rows] = $column["cores_used"]
	memory[rows] = $column["footprint_bytes"] / 1048576
	estimated[rows] = $column["estimated"] ~ /footprint_bytes/
	processes[rows] = $column["processes"]
	if (memory[rows] > most_memory)
		most_memory = memory[rows]
}

END {
	slices = rows < 16 ? rows : 16
	printf "%8s  %5s %-*s  %9s %-*s  %8s\n", "seconds", "cores", width, "", "MiB", width,
	       "~ estimate", "processes"
	for (s = 0; s < slices; s++)
		slice(int(s * rows / slices) + 1, int((s + 1) * rows / slices))
}
