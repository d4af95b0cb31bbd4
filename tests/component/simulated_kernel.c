/* SPDX-License-Identifier: MIT */
/* The simulated kernel: what its processes do, and the accounts that it keeps of them. */
#include "simulated_kernel.h"

#include <string.h>

#define UNRELATED_PARENT 2

struct sim_kernel sim;

unsigned sim_pick(unsigned below)
{
	sim.seed = sim.seed * 1664525u + 1013904223u;
	return (unsigned)((uint64_t)(sim.seed >> 8) * below >> 24);
}

struct sim_process *sim_find(int tid, const struct sim_thread **thread)
{
	for (int i = 0; i < sim.count; i++) {
		struct sim_process *p = &sim.p[i];
		const struct sim_thread *found = p->leader.tid == tid ? &p->leader : NULL;

		for (int t = 0; !found && t < p->thread_count; t++) {
			if (p->threads[t].tid == tid)
				found = &p->threads[t];
		}
		if (found) {
			if (thread)
				*thread = found;
			return p;
		}
	}
	return NULL;
}

static bool is_supervisor(const struct sim_process *p)
{
	return sim.rules.is_supervised && p->leader.tid == SIM_ROOT;
}

static int get_live_thread(const struct sim_process *p)
{
	return p->has_leader_exited ? p->threads[0].tid : p->leader.tid;
}

/* A CPU switches to this process. The usage of the previous process on that CPU enters the cgroup
 * accounts. */
static void run_on_cpu(const struct sim_process *p, uint64_t ns)
{
	unsigned cpu = sim_pick(SIM_CPUS), lag = sim_pick(2) ? sim_pick(SIM_TICK_NS) : 0;

	sim.running[cpu].pid = p->leader.tid;
	sim.running[cpu].is_in_cgroup = p->is_member;
	sim.running[cpu].ns = lag < ns ? lag : ns;
	sim.group_ns += ns;
	if (p->is_member)
		sim.cgroup_ns += ns;
}

static void clear_cpus(int pid)
{
	for (int i = 0; i < SIM_CPUS; i++) {
		if (sim.running[i].pid == pid)
			sim.running[i].ns = 0;
	}
}

static void add_cpu_time(struct sim_process *p, uint64_t ns)
{
	p->user_ns += ns - ns / 3;
	p->system_ns += ns / 3;
	if (p->is_in_group)
		run_on_cpu(p, ns);
	if (is_supervisor(p))
		sim.overhead_ns += ns;
	if (p->is_member)
		sim.cpu_ns += ns;
}

static void use_resources(struct sim_process *p, uint64_t ns)
{
	uint64_t bytes = ns % 3 || is_supervisor(p) ? 0 : 512 * (1 + ns % 5);

	add_cpu_time(p, ns);
	p->faults += 1 + ns % 4;
	p->written += bytes;
	if (!p->is_member)
		return;
	sim.faults += 1 + ns % 4;
	sim.written += bytes;
}

/* Returns 0 if the random pid is in use. */
static int pick_free_tid(void)
{
	int tid = SIM_ROOT + 1 + (int)sim_pick(SIM_PIDS);

	if (sim.rules.never_reuses_pids)
		tid = SIM_PROGRAM + ++sim.tids;
	return sim_find(tid, NULL) ? 0 : tid;
}

static struct sim_process *add_process(int pid, int ppid, int parent_tid)
{
	struct sim_process *p = &sim.p[sim.count];

	if (sim.count == SIM_PROCESSES_MAX || pid == 0)
		return NULL;
	sim.count++;
	*p = (struct sim_process){ .leader = { pid, ++sim.now },
		                   .ppid = ppid,
		                   .parent_tid = parent_tid };
	return p;
}

/* Forks a child. The parent uses CPU time for it. */
static void fork_process(struct sim_process *parent)
{
	int thread = (int)sim_pick((unsigned)parent->thread_count + 1);
	int tid = thread > 0 ? parent->threads[thread - 1].tid : get_live_thread(parent);
	struct sim_process *p = add_process(pick_free_tid(), parent->leader.tid, tid);

	if (!p)
		return;
	p->is_member = parent->is_member;
	p->is_in_group = parent->is_in_group;
	p->ignores_sigchld = parent->ignores_sigchld;
	add_cpu_time(parent, 1000);
	use_resources(p, sim_pick(30000000));
}

static void add_unrelated_process(void)
{
	struct sim_process *p = add_process(pick_free_tid(), UNRELATED_PARENT, UNRELATED_PARENT);

	if (!p)
		return;
	p->is_in_group = sim_pick(4) == 0;
	use_resources(p, sim_pick(30000000));
}

static void remove_process(struct sim_process *p)
{
	*p = sim.p[--sim.count];
}

static void remove_with_account(struct sim_process *p)
{
	sim.has_lost_account |= p->is_member;
	remove_process(p);
}

/* wait_task_zombie(): the account moves before the process disappears, and the parent runs
 * meanwhile. */
static void reap_process(struct sim_process *p)
{
	struct sim_process *parent = sim_find(p->ppid, NULL);

	if (!parent) {
		remove_with_account(p);
		return;
	}
	add_cpu_time(parent, 1 + sim_pick(1000));
	parent->reaped_user_ns += p->user_ns + p->reaped_user_ns;
	parent->reaped_system_ns += p->system_ns + p->reaped_system_ns;
	parent->reaped_faults += p->faults + p->reaped_faults;
	parent->written += p->written;
	switch (sim_pick(4)) {
	case 0:
		p->is_husk = true;
		break;
	case 1:
		p->is_dead = true;
		break;
	default:
		remove_process(p);
	}
}

/* find_new_reaper(), if no thread of the process itself is left. */
static const struct sim_process *find_new_parent(const struct sim_process *p)
{
	const struct sim_process *up = sim_find(p->ppid, NULL);

	while (up && !up->is_subreaper)
		up = sim_find(up->ppid, NULL);
	return up;
}

/* If no member adopts the children, init does. init is not simulated: it reaps at once. */
static void reparent_children(const struct sim_process *p)
{
	const struct sim_process *reaper = find_new_parent(p);
	int pid = p->leader.tid, reaper_pid = reaper ? reaper->leader.tid : 1,
	    reaper_tid = reaper ? get_live_thread(reaper) : 1;
	bool is_lost = !reaper || reaper->ignores_sigchld;

	for (int i = 0; i < sim.count; i++) {
		struct sim_process *child = &sim.p[i];

		if (child->ppid != pid || child->is_husk || child->is_dead)
			continue;
		child->ppid = reaper_pid;
		child->parent_tid = reaper_tid;
		if (!reaper)
			sim.has_lost_account |= child->is_member; /* unless a sample has read it */
		if (is_lost && child->is_zombie) {
			remove_with_account(child);
			i--;
		}
	}
}

static void exit_process(int pid)
{
	struct sim_process *p = sim_find(pid, NULL), *parent;

	clear_cpus(pid);
	p->is_zombie = true;
	p->has_leader_exited = false;
	p->thread_count = 0;
	reparent_children(p);
	p = sim_find(pid, NULL); /* removing other processes may have moved it */
	parent = sim_find(p->ppid, NULL);
	if (pid != SIM_ROOT && (!parent || parent->ignores_sigchld))
		remove_with_account(p);
}

/* The children of the thread move to another thread of the process. */
static void exit_thread(struct sim_process *p, int index)
{
	int tid = index < 0 ? p->leader.tid : p->threads[index].tid;

	if (index < 0)
		p->has_leader_exited = true;
	else
		p->threads[index] = p->threads[--p->thread_count];
	for (int i = 0; i < sim.count; i++) {
		if (sim.p[i].ppid == p->leader.tid && sim.p[i].parent_tid == tid)
			sim.p[i].parent_tid = get_live_thread(p);
	}
}

/* Starting or ending a thread uses CPU time of the process. */
static void start_or_end_thread(struct sim_process *p)
{
	int tid = pick_free_tid();

	add_cpu_time(p, 1000);
	if (sim_pick(3) == 0 && p->thread_count + !p->has_leader_exited > 1)
		exit_thread(p, (int)sim_pick((unsigned)(p->thread_count + !p->has_leader_exited)) -
		                   !p->has_leader_exited);
	else if (p->thread_count < SIM_THREADS_MAX && tid)
		p->threads[p->thread_count++] = (struct sim_thread){ tid, ++sim.now };
}

/* de_thread(): the calling thread continues as the leader, with the start time of the leader. */
static void exec_process(struct sim_process *p)
{
	p->has_leader_exited = false;
	p->thread_count = 0;
	for (int i = 0; i < sim.count; i++) {
		if (sim.p[i].ppid == p->leader.tid)
			sim.p[i].parent_tid = p->leader.tid;
	}
	p->execs++;
	use_resources(p, sim_pick(3000000));
}

static bool may_exit(const struct sim_process *p)
{
	if (p->leader.tid == SIM_ROOT || (p->leader.tid == SIM_PROGRAM && !sim.is_ending))
		return false;
	for (int i = 0; i < sim.count && !sim.rules.may_orphan; i++) {
		if (sim.p[i].ppid == p->leader.tid)
			return false;
	}
	return sim.rules.may_orphan || sim_find(p->ppid, NULL) || !p->is_member;
}

static void change_process(struct sim_process *p)
{
	switch (sim_pick(3)) {
	case 0:
		exec_process(p);
		if (sim.rules.may_hide_io)
			p->hides_io = sim_pick(2);
		break;
	case 1:
		if (sim.rules.may_ignore)
			p->ignores_sigchld = !p->ignores_sigchld;
		break;
	default:
		if (sim.rules.may_adopt)
			p->is_subreaper = !p->is_subreaper;
	}
}

static void run_process(struct sim_process *p)
{
	switch (sim_pick(10)) {
	case 0:
	case 1:
	case 2:
		if (!sim.is_ending)
			fork_process(p);
		break;
	case 3:
	case 4:
		use_resources(p, sim_pick(25000000));
		break;
	case 5:
	case 6:
	case 7:
		if (may_exit(p))
			exit_process(p->leader.tid);
		break;
	case 8:
		start_or_end_thread(p);
		break;
	default:
		change_process(p);
	}
}

void sim_step(void)
{
	struct sim_process *p = &sim.p[sim_pick((unsigned)sim.count)];

	if (sim_pick(10) == 0)
		add_unrelated_process();
	else if (p->is_husk || p->is_dead)
		remove_process(p);
	else if (p->is_zombie && p->leader.tid != SIM_ROOT)
		reap_process(p);
	else if (is_supervisor(p))
		use_resources(p, sim_pick(100000));
	else if (!p->is_zombie)
		run_process(p);
}

/* The kernel releases a dead process soon, even if no other process runs. */
static void release_dead_processes(void)
{
	for (int i = 0; i < sim.count; i++) {
		if (sim.p[i].is_dead && sim_pick(3) == 0)
			remove_process(&sim.p[i--]);
	}
}

void sim_pass_time(void)
{
	release_dead_processes();
	while (sim.count > 0 && sim_pick(1000) < sim.events_per_mille)
		sim_step();
}

void sim_stop(int pid)
{
	const struct sim_process *p = sim_find(pid, NULL);

	if (p && !p->is_zombie)
		exit_process(pid);
}

void sim_end(int pid)
{
	struct sim_process *p;

	sim_stop(pid);
	p = sim_find(pid, NULL);
	if (p && pid == SIM_ROOT)
		remove_process(p);
	else if (p && !p->is_husk && !p->is_dead)
		reap_process(p);
}

void sim_use_overhead(uint64_t ns)
{
	sim.group_ns += ns;
	sim.overhead_ns += ns;
}

static void start_tree(void)
{
	struct sim_process *root = add_process(SIM_ROOT, 1, 1), *program = root;

	root->is_in_group = true;
	if (sim.rules.is_supervised) {
		root->is_subreaper = true;
		use_resources(root, 300000);
		root->written = 1536;
		program = add_process(SIM_PROGRAM, SIM_ROOT, SIM_ROOT);
	}
	program->is_member = program->is_in_group = true;
	use_resources(program, 5000000);
}

void sim_begin(unsigned seed, const struct sim_rules *rules)
{
	memset(&sim, 0, sizeof(sim));
	sim.rules = *rules;
	sim.seed = seed * 2654435761u;
	for (unsigned unrelated = sim_pick(4); unrelated > 0; unrelated--)
		add_unrelated_process();
	sim.baseline_ns = sim_group_account_ns();
	sim.events_per_mille = 60 + sim_pick(250);
	start_tree();
}

int sim_count_members(void)
{
	int count = 0;

	for (int i = 0; i < sim.count; i++)
		count += sim.p[i].is_member && sim.p[i].leader.tid != SIM_ROOT;
	return count;
}

uint64_t sim_group_lag_ns(void)
{
	uint64_t lag_ns = 0;

	for (int i = 0; i < SIM_CPUS; i++)
		lag_ns += sim.running[i].ns;
	return lag_ns;
}

uint64_t sim_group_account_ns(void)
{
	return sim.group_ns - sim_group_lag_ns();
}

uint64_t sim_cgroup_account_ns(void)
{
	uint64_t ns = sim.cgroup_ns;

	for (int i = 0; i < SIM_CPUS; i++)
		ns -= sim.running[i].is_in_cgroup ? sim.running[i].ns : 0;
	return ns;
}
