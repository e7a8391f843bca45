#!/usr/bin/env bash
# A Slurm engine of one node on this host, for tests: source it, then
#
#     slurm_install        # Debian's and Ubuntu's packages
#     slurm_start DIR      # munged, slurmctld, slurmd: configuration, state and logs under DIR
#     sbatch ...           # SLURM_CONF is exported
#     slurm_stop
#
# Neither systemd nor cgroups nor a database is used. SUDO is the command that makes
# one root; empty where the caller is root.
#
# Settings, from the environment:
#   SLURM_TEST_CPUS   processors to declare (default: the host's, at least 8)
#   SLURM_TEST_PORT   slurmctld's port; slurmd takes the next one (default 26817)
#   SLURM_TEST_EXTRA  further lines for slurm.conf

if [ -z "${SUDO+set}" ]; then
	if [ "$(id -u)" = 0 ]; then SUDO=; else SUDO=sudo; fi
fi
PATH=$PATH:/usr/sbin:/sbin # where the daemons are

slurm_install() {
	$SUDO apt-get update -q &&
		$SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends \
			munge slurmctld slurmd slurm-client
}

# _slurm_pid NAME: the process of a daemon if it runs. A pid file may outlive its
# process, and the number may be another's by now, so the command line has to match.
_slurm_pid() {
	local pid
	pid=$(cat "$_slurm_dir/run/$1.pid" 2>/dev/null) || return 1
	[ -n "$pid" ] && tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -q -F -- "$1" || return 1
	[ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null)" != Z ] || return 1
	echo "$pid"
}

# _slurm_until SECONDS COMMAND...: polls until the command succeeds.
_slurm_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

_slurm_logs() {
	local log
	for log in munged slurmctld slurmd; do
		echo "-- $log.log" >&2
		$SUDO tail -n 40 "$_slurm_dir/log/$log.log" >&2 || true
	done
	timeout 10 scontrol show node >&2 || true
}

_slurm_idle() { [ "$(timeout 10 sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }
_slurm_munge() { timeout 10 munge --socket "$_slurm_dir/run/munge.socket" --no-input >/dev/null 2>&1; }
_slurm_empty() { [ -z "$(timeout 10 squeue --noheader 2>/dev/null)" ]; }
_slurm_gone() { ! _slurm_pid "$1" >/dev/null; }

# Every step has a manager, slurmstepd, with a socket NODE_JOB.STEP in slurmd's folder.
_slurm_steps() { $SUDO find "$_slurm_dir/spool" -maxdepth 1 -type s 2>/dev/null | grep -q .; }
_slurm_no_steps() { ! _slurm_steps; }

# _slurm_strays: processes of this engine's jobs: only those have both variables.
_slurm_strays() {
	local environ
	for environ in /proc/[0-9]*/environ; do
		if $SUDO cat "$environ" 2>/dev/null | tr '\0' '\n' | awk -v conf="SLURM_CONF=$_slurm_dir/slurm.conf" '
			$0 == conf { c = 1 } /^SLURM_JOB_ID=/ { j = 1 } END { exit !(c && j) }'; then
			environ=${environ#/proc/}
			echo "${environ%/environ}"
		fi
	done
}

# slurm_start DIR: starts what does not run yet and waits until the node is idle.
slurm_start() {
	local dir=${1:?slurm_start DIR} host cpus memory version port=${SLURM_TEST_PORT:-26817}
	local command
	for command in munged slurmctld slurmd sbatch; do
		command -v $command >/dev/null || { echo "slurm_start: no $command: slurm_install first" >&2; return 1; }
	done
	mkdir -p "$dir" && dir=$(cd "$dir" && pwd) || return 1
	chmod 755 "$dir" # mktemp -d gives 700; clients of other users need the socket
	if [ ${#dir} -gt 70 ]; then
		echo "slurm_start: $dir: too long for the sockets in it" >&2
		return 1
	fi
	_slurm_dir=$dir
	export SLURM_CONF=$dir/slurm.conf

	host=$(hostname -s 2>/dev/null || hostname)
	host=${host%%.*}
	memory=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
	cpus=$(nproc)
	[ "$cpus" -ge 8 ] || cpus=8
	cpus=${SLURM_TEST_CPUS:-$cpus}
	version=$(slurmd -V | grep -oE '[0-9]+\.[0-9]+' | head -1)

	$SUDO install -d -m 755 "$dir/run" "$dir/log" "$dir/state" "$dir/spool" &&
		$SUDO chown -R "$($SUDO id -u)" "$dir/run" "$dir/log" "$dir/state" "$dir/spool" || return 1
	# A step socket whose manager died by SIGKILL or with the machine.
	_slurm_pid slurmd >/dev/null || $SUDO find "$dir/spool" -maxdepth 1 -type s -delete

	cat >"$dir/slurm.conf.new" <<CONF || return 1
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# A requeued job may begin when its credentials have expired: 120 s unless told.
AuthInfo=socket=$dir/run/munge.socket,cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.log
SlurmctldDebug=verbose
SlurmdDebug=verbose
# By process groups: linuxproc would lose a program whose batch script died before it.
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/log/completed
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
JobRequeue=1
KillWait=3
MinJobAge=3600
SlurmctldTimeout=30
SlurmdTimeout=60
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
${SLURM_TEST_EXTRA:-}
CONF
	mv "$dir/slurm.conf.new" "$SLURM_CONF"
	# Older ones do not know the word, and load nothing of cgroups unless a plugin needs it.
	rm -f "$dir/cgroup.conf"
	if [ "$(printf '%s\n' 24.05 "$version" | sort -V | head -1)" = 24.05 ]; then
		echo CgroupPlugin=disabled >"$dir/cgroup.conf"
	fi

	if ! _slurm_pid munged >/dev/null; then
		$SUDO test -s "$dir/run/munge.key" ||
			$SUDO sh -c "umask 077; head -c 128 /dev/urandom >'$dir/run/munge.key'" || return 1
		$SUDO rm -f "$dir/run/munge.socket" "$dir/run/munge.socket.lock"
		# --force: DIR may be below a folder that others can write, /tmp for one.
		timeout 20 $SUDO munged --force --num-threads 2 --key-file "$dir/run/munge.key" \
			--socket "$dir/run/munge.socket" --pid-file "$dir/run/munged.pid" \
			--log-file "$dir/log/munged.log" --seed-file "$dir/run/munge.seed" 2>>"$dir/munged.err" || {
			cat "$dir/munged.err" >&2
			return 1
		}
	fi
	_slurm_until 10 _slurm_munge || { _slurm_logs; return 1; }
	_slurm_pid slurmctld >/dev/null || timeout 20 $SUDO env SLURM_CONF="$SLURM_CONF" slurmctld -f "$SLURM_CONF" ||
		{ _slurm_logs; return 1; }
	_slurm_pid slurmd >/dev/null || timeout 20 $SUDO env SLURM_CONF="$SLURM_CONF" slurmd -f "$SLURM_CONF" -N "$host" ||
		{ _slurm_logs; return 1; }
	if ! _slurm_until 60 _slurm_idle; then
		echo "slurm_start: the node is not idle after a minute" >&2
		_slurm_logs
		return 1
	fi
}

# slurm_stop [DIR]: cancels every job, ends the daemons; harmless where nothing runs.
# DIR is the one this shell started unless told.
slurm_stop() {
	local daemon pid left=0
	[ $# = 0 ] || _slurm_dir=$(cd "$1" 2>/dev/null && pwd) || return 0
	[ -n "${_slurm_dir:-}" ] || return 0
	export SLURM_CONF=$_slurm_dir/slurm.conf
	if _slurm_pid slurmctld >/dev/null; then
		timeout 10 squeue --noheader --format=%A 2>/dev/null | sort -u |
			xargs -r timeout 20 $SUDO env SLURM_CONF="$SLURM_CONF" scancel 2>/dev/null || true
		_slurm_until 20 _slurm_empty || true
		_slurm_until 10 _slurm_no_steps || true
	fi
	for pid in $(_slurm_strays); do # left its job's process group
		[ "$pid" = $$ ] || $SUDO kill -KILL "$pid" 2>/dev/null || true
	done
	for daemon in slurmctld slurmd munged; do
		if pid=$(_slurm_pid $daemon); then
			$SUDO kill "$pid" 2>/dev/null || true
			_slurm_until 15 _slurm_gone $daemon || $SUDO kill -KILL "$pid" 2>/dev/null || true
			_slurm_until 5 _slurm_gone $daemon || { echo "slurm_stop: $daemon ($pid) remains" >&2; left=1; }
		fi
	done
	if _slurm_steps; then
		echo "slurm_stop: a job's step remains" >&2
		left=1
	fi
	$SUDO chown -R "$(id -u)" "$_slurm_dir" || true # for rm -r
	unset SLURM_CONF _slurm_dir
	return $left
}
