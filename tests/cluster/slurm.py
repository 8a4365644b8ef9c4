"""A real SLURM on this machine: munged, a controller and several nodes, without systemd, cgroups or a database.

    with Cluster(folder) as cluster:
        subprocess.run(["srun", "hostname"])
        cluster.lose("node1")

Debian's packages (`PACKAGES`), root, and no other SLURM on the machine are needed; `missing()` says what is not there.
All daemons run in the foreground as children of the test's process, on free ports, with key, sockets and spools in
`folder`. Only /etc/slurm/slurm.conf is outside of it, a link to the configuration: inside a job Snakemake's plugin
drops SLURM_CONF, and srun then looks nowhere else.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from processes import is_alive, until

PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins")
LINK = Path("/etc/slurm/slurm.conf")
# What all our configurations are called, so that a link that a killed test has left is known as ours.
CONFIGURATION = "devqa-test-slurm.conf"
FIELDS = ("id", "run", "state", "node", "limit", "partition", "account", "what")
# How soon a node counts as lost that does not answer.
LOST_AFTER_S = 10

TEMPLATE = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket

# No cgroups. Not proctrack/linuxproc: it loses a job's outer Snakemake when a node fails.
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none

# Nodes claim more than the machine has.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
# Jobs are spread over the nodes.
SelectTypeParameters=CR_Core_Memory,CR_LLN

# The memory of a step is looked at every second; the step that has more than its job asked for is killed.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill

SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=2
SlurmdTimeout={lost_after}
KillWait=2
ReturnToService=2
# As on most clusters: SLURM would put a job whose node is lost back into the queue by itself.
JobRequeue=1
EnforcePartLimits=ALL
MinJobAge=300
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none

StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log

{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=7-00:00:00 State=UP
PartitionName=other Nodes=ALL MaxTime=7-00:00:00 State=UP
"""


def missing() -> str:
    """Why no cluster can be brought up here; "" if one can."""
    if os.geteuid() != 0:
        return "a SLURM of one's own needs root"
    programs = ("munged", "slurmctld", "slurmd", "srun", "scontrol")
    if lacking := [name for name in programs if not shutil.which(name)]:
        return f"{', '.join(lacking)} not found: apt-get install --no-install-recommends {' '.join(PACKAGES)}"
    if LINK.exists() and not _is_ours():
        return f"{LINK} belongs to a SLURM that is here already"
    return ""


def _is_ours() -> bool:
    return LINK.is_symlink() and LINK.readlink().name == CONFIGURATION


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody has now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Cluster:
    """The cluster, as a context manager. Waits for other tests' cluster on this machine to end.

    Args:
        folder: an empty one, with a short path: sockets lie in it.
        nodes: how many; they are called node1, node2, …
        cpus: that each claims.
        memory: MB that each claims.
    """

    def __init__(self, folder: Path, nodes: int = 4, cpus: int = 4, memory: int = 16000):
        self.folder = folder
        self.configuration = folder / CONFIGURATION
        self.nodes = [f"node{number}" for number in range(1, nodes + 1)]
        self.cpus, self.memory = cpus, memory
        self._daemons: dict[str, subprocess.Popen] = {}
        self._turn = (Path(tempfile.gettempdir()) / f"{CONFIGURATION}.lock").open("w")

    def __enter__(self) -> "Cluster":
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        try:
            self._configure()
            self._start("munged", "--foreground", *self._munge_options())
            until((self.folder / "munge.socket").exists)
            self.start_controller()
            for name in self.nodes:
                self.start(name)
            until(lambda: self.states() == dict.fromkeys(self.nodes, "idle"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End all jobs, then all daemons, whatever state they are in."""
        with suppress(subprocess.SubprocessError):
            self.command("scancel", "--user=root", within_s=20)
            until(lambda: not self.jobs(), 20)
        for name in self.nodes:
            self.lose(name)
        for daemon in reversed(self._daemons.values()):
            _end(daemon)
        if _is_ours():
            LINK.unlink()
        self._turn.close()

    def command(self, *words: str, within_s: float = 60) -> str:
        """What one of SLURM's commands prints."""
        run = subprocess.run(words, capture_output=True, text=True, check=True, timeout=within_s)
        return run.stdout.strip()

    def states(self) -> dict[str, str]:
        """Every node's state, as sinfo calls it."""
        with suppress(subprocess.CalledProcessError):
            lines = self.command("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
            return dict(line.split() for line in lines)
        return {}

    def jobs(self, states: str = "PENDING,RUNNING,COMPLETING") -> list[dict[str, str]]:
        """SLURM's jobs in these states: `id`, `run` (the plugin's name for it), `state`, `node`, `limit` of its
        time, `partition`, `account`, and `what`, the plugin's comment with rule and wildcards.
        """
        form = "--format=%i|%j|%T|%N|%l|%P|%a|%k"
        lines = self.command("squeue", "--noheader", f"--states={states}", form).splitlines()
        return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in lines]

    def start(self, node: str) -> None:
        """Bring up a node, for the first time or again."""
        spool = self.folder / f"spool.{node}"
        spool.mkdir(exist_ok=True)
        self._start(node, "slurmd", "-D", "-f", str(self.configuration), "-N", node)

    def start_controller(self, *options: str) -> None:
        """Bring up the controller, for the first time or again; it knows its jobs."""
        self._start("slurmctld", "slurmctld", "-D", "-f", str(self.configuration), *options)

    def stop_controller(self) -> None:
        """Let the controller go, as for maintenance; nodes and jobs run on."""
        _end(self._daemons["slurmctld"])

    def lose(self, node: str) -> None:
        """Kill a node's daemon and all processes of its jobs at once, as when it loses its power."""
        if daemon := self._daemons.get(node):
            daemon.kill()
            daemon.wait()
        # Twice: what was just being started is found the second time.
        for _ in range(2):
            for process in self._processes_of(node):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.1)

    def restore(self) -> None:
        """Bring up the nodes that were lost, and wait until they take jobs."""
        for node in self.nodes:
            if self._daemons[node].poll() is not None:
                self.start(node)
        until(lambda: set(self.states().values()) == {"idle"})

    def _processes_of(self, node: str) -> list[int]:
        """The supervisors (slurmstepd) of a node's jobs first, so that killing the rest is not reported by them."""
        marks = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self.configuration}".encode()}
        parents, own = {}, set()
        for process in [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]:
            # It may end while we look.
            with suppress(OSError):
                parents[process] = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
                if marks <= set(Path(f"/proc/{process}/environ").read_bytes().split(b"\0")):
                    own.add(process)
        own |= {process for process in parents if not own.isdisjoint(_line(process, parents))}
        supervisors = {each for process in own for each in _line(process, parents) if _is_supervisor(each)}
        return [each for each in (*supervisors, *(own - supervisors)) if is_alive(each)]

    def _configure(self) -> None:
        host = socket.gethostname().split(".")[0]
        controller, *ports = free_ports(1 + len(self.nodes))
        nodes = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus}"
            f" RealMemory={self.memory} State=UNKNOWN"
            for name, port in zip(self.nodes, ports, strict=True)
        ]
        text = TEMPLATE.format(
            host=host, controller=controller, folder=self.folder, lost_after=LOST_AFTER_S, nodes="\n".join(nodes)
        )
        self.configuration.write_text(text, encoding="utf-8")
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        LINK.parent.mkdir(exist_ok=True)
        # What a killed test has left is taken over.
        if _is_ours():
            LINK.unlink()
        LINK.symlink_to(self.configuration)

    def _munge_options(self) -> list[str]:
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        # --force: the folders above may be anyone's to write to, as the system's temporary folder is.
        return ["--force", *(f"--{option}={self.folder}/munge.{name}" for option, name in files.items())]

    def _start(self, name: str, *command: str) -> None:
        words = [name, *command] if name == "munged" else list(command)
        log = (self.folder / f"{name}.out").open("ab")
        with log:
            # SLURM_CONF of whoever runs the tests would name another cluster.
            inherited = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "SBATCH_"))}
            self._daemons[name] = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=inherited,
                start_new_session=True,
            )


def _end(daemon: subprocess.Popen[Any]) -> None:
    daemon.terminate()
    try:
        daemon.wait(20)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _is_supervisor(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip() == "slurmstepd"
    return False


def _line(process: int, parents: dict[int, int]) -> Iterator[int]:
    """A process, its parent, its parent's parent …"""
    while process in parents:
        yield process
        process = parents[process]
