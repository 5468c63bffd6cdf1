"""What a program inside tries in order to get out; run by the sandbox's own Python, prints one line of JSON.

Its argument says, written backwards so that it does not find itself, what to look for: marks of the host that only lead
anywhere when a wall is missing. Every attempt says what came of it.
"""

# ruff: noqa: PTH103, PTH115, PTH116, PTH207, SIM115  # text for another process, which leaves at once

import array
import contextlib
import ctypes
import fcntl
import glob
import json
import os
import signal
import socket
import sys

WANTED = json.loads(sys.argv[1][::-1])
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
NEW_USER, NEW_MOUNTS, NEW_PIDS, NEW_GROUPS = 0x10000000, 0x00020000, 0x20000000, 0x02000000


def call(number, *arguments):
    """A system call, or its error."""
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read(4096)


def write(path, text):
    with open(path, "wb", buffering=0) as file:
        file.write(text)


def host_file():
    return read(WANTED["file"])


def through_proc():
    ways = [*glob.glob("/proc/[0-9]*/root"), *glob.glob("/proc/[0-9]*/cwd"), *glob.glob("/proc/[0-9]*/fd/*")]
    for way in ways:
        with contextlib.suppress(OSError):
            return read(way + WANTED["file"])
    raise OSError(2, "by no way")


def host_processes():
    for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
        with contextlib.suppress(OSError):
            text = open(path, "rb").read()
            if WANTED["mark"].encode() in text:
                return text
    raise OSError(2, "none is seen")


def signal_host():
    os.kill(WANTED["pid"], signal.SIGTERM)


def every_number():
    """All numbers that can be signalled are of processes that are seen."""
    seen = {int(path.split("/")[2]) for path in glob.glob("/proc/[0-9]*/task/[0-9]*")}
    seen |= {int(path.split("/")[4]) for path in glob.glob("/proc/[0-9]*/task/[0-9]*")}
    for pid in range(2, 70000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        except PermissionError:
            return f"{pid} is there"
        if pid not in seen:
            with contextlib.suppress(OSError):
                if read(f"/proc/{pid}/stat"):
                    continue
            return f"{pid} is there"
    raise OSError(3, "none")


def trace_host():
    call(101, 16, WANTED["pid"], 0, 0)


def read_memory():
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    call(310, WANTED["pid"], local, 1, local, 1, 0)


def open_process():
    return call(438, call(434, WANTED["pid"], 0), 1, 0)


def abstract_socket():
    one = socket.socket(socket.AF_UNIX)
    one.connect("\0" + WANTED["mark"])
    return "connected"


def loopback():
    return socket.create_connection(("127.0.0.1", WANTED["port"]), 2).recv(10)


def other_addresses():
    for host in WANTED["addresses"]:
        with contextlib.suppress(OSError):
            socket.create_connection((host, WANTED["port"]), 1)
            return host
    raise OSError(101, "none")


def raw_packets():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    return "a raw socket"


def interfaces():
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not names:
        raise OSError(19, "only lo")
    return names


def machine_socket():
    """To the host of a virtual machine; the network namespace does not bound it on every kernel."""
    one = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    one.settimeout(1)
    one.connect((2, WANTED["port"]))
    return "connected"


def shared_memory():
    return call(29, WANTED["shm"], 0, 0)


def keyring():
    return call(250, 10, ctypes.c_long(-3), b"user", WANTED["mark"].encode(), 0)


def known_keys():
    text = read("/proc/keys")
    if WANTED["mark"].encode() not in text:
        raise OSError(2, "not listed")
    return text.decode()


def settings():
    names = (
        "kernel/core_pattern",
        "kernel/modprobe",
        "vm/overcommit_memory",
        "kernel/hostname",
        "fs/file-max",
        "net/ipv4/ip_forward",
        "kernel/randomize_va_space",
    )
    for name in names:
        with contextlib.suppress(OSError):
            os.close(os.open(f"/proc/sys/{name}", os.O_WRONLY))
            return name
    raise OSError(13, "none")


def kernel_files():
    for path in (
        "/proc/sysrq-trigger",
        "/proc/kcore",
        "/proc/kmem",
        "/dev/mem",
        "/dev/kmsg",
        "/dev/sda",
        "/dev/vda",
        "/dev/kvm",
        "/dev/fuse",
        "/dev/net/tun",
        "/dev/loop-control",
        "/sys/power/state",
    ):
        for mode in (os.O_RDONLY, os.O_WRONLY):
            with contextlib.suppress(OSError):
                descriptor = os.open(path, mode)
                if mode == os.O_WRONLY or os.read(descriptor, 1):
                    return path
    raise OSError(13, "none")


def device_node():
    os.mknod("/tmp/disk", 0o60666, os.makedev(254, 0))
    return "made"


def by_handle():
    handle = ctypes.create_string_buffer(bytes([8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), 136)
    return call(304, os.open("/tmp", os.O_RDONLY), handle, os.O_RDONLY)


def privileges():
    asked = {
        "bpf": (321, 5, ctypes.create_string_buffer(120), 120), "kexec": (246, 0, 0, 0, 0), "reboot": (169, 1, 2, 3, 0),
        "module": (175, 0, 0, b""), "chroot": (161, b"/tmp"), "settime": (227, 0, (ctypes.c_long * 2)(0, 0)),
        "swapon": (167, b"/tmp/x", 0), "hostname": (170, b"x", 1), "mount": (165, b"none", b"/mnt", b"tmpfs", 0, 0),
        "nice": (141, 0, 0, ctypes.c_long(-20)), "setuid": (105, 0), "ioperm": (173, 0, 1, 1), "quota": (179, 0, 0, 0),
        "uring": (425, 8, ctypes.create_string_buffer(120)), "setns": (308, os.open("/proc/1/ns/mnt", os.O_RDONLY), 0),
        "perf": (298, ctypes.create_string_buffer(bytes([1, 0, 0, 0, 120, 0, 0, 0]), 120), -1, 0, -1, 0),
    }  # fmt: skip
    got = []
    for name, arguments in asked.items():
        with contextlib.suppress(OSError):
            call(*arguments)
            got.append(name)
    if not got:
        raise OSError(1, "none")
    return got


def kernel_log():
    return call(103, 10, 0, 0) and call(103, 3, ctypes.create_string_buffer(1000), 1000)


def set_user_programs():
    for path in glob.glob("/usr/bin/*") + glob.glob("/bin/*"):
        with contextlib.suppress(OSError):
            if os.stat(path).st_mode & 0o6000 and "NoNewPrivs:\t1" not in open("/proc/self/status").read():
                return path
    raise OSError(1, "none takes effect")


def as_root_inside():
    """All that the root of a namespace of his own may try."""
    uid, gid = os.getuid(), os.getgid()
    call(272, NEW_USER | NEW_MOUNTS | NEW_GROUPS)
    for name, text in (("setgroups", b"deny"), ("uid_map", b"0 %d 1" % uid), ("gid_map", b"0 %d 1" % gid)):
        write(f"/proc/self/{name}", text)
    got = []
    os.makedirs("/tmp/at", exist_ok=True)
    for kind, source in (
        ("sysfs", "none"),
        ("cgroup2", "none"),
        ("cgroup", "none"),
        ("ext4", "/dev/vda"),
        ("debugfs", "none"),
        ("tracefs", "none"),
        ("securityfs", "none"),
        ("devtmpfs", "none"),
    ):
        with contextlib.suppress(OSError):
            call(165, source.encode(), b"/tmp/at", kind.encode(), 0, 0)
            got += [kind] if kind != "cgroup2" or may_steer("/tmp/at") else []
    for name in (
        "settings",
        "kernel_files",
        "device_node",
        "by_handle",
        "host_file",
        "through_proc",
        "raw_packets",
        "trace_host",
        "keyring",
    ):
        with contextlib.suppress(OSError):
            got.append([name, str(globals()[name]())])
    with contextlib.suppress(OSError):
        call(165, b"none", b"/", None, 0x20 | 4096, None)
        write("/usr/bin/zz", b"x")
        got.append("/usr is writable")
    with contextlib.suppress(OSError):
        write("/etc/zz", b"x")
        got.append("/etc is writable")
    if not got:
        raise OSError(1, "none")
    return got


def may_steer(folder):
    """Whether the group of processes that the whole trial belongs to can be stopped or filled from inside."""
    for name in ("cgroup.procs", "cgroup.kill", "cgroup.freeze", "cgroup.subtree_control"):
        with contextlib.suppress(OSError):
            os.close(os.open(f"{folder}/{name}", os.O_WRONLY))
            return True
    return False


def bigger_user_map():
    """Another user of the host than our own."""
    pid = os.fork()
    if not pid:
        with contextlib.suppress(OSError):
            call(272, NEW_USER)
            signal.pause()
        os._exit(1)
    try:
        for line in (b"0 0 1", b"0 0 4294967295", b"0 1 1", b"1 100000 65536"):
            with contextlib.suppress(OSError):
                write(f"/proc/{pid}/uid_map", line)
                return line.decode()
        raise OSError(1, "none")
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def type_ahead():
    for name in ("/dev/tty", "/dev/console", "/proc/1/fd/0"):
        with contextlib.suppress(OSError):
            fcntl.ioctl(os.open(name, os.O_RDWR), 0x5412, b"x")
            return name
    raise OSError(6, "no terminal")


def sockets_of_services():
    for path in (
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
        "/run/user/1000/bus",
        "/tmp/.X11-unix/X0",
        "/run/podman/podman.sock",
    ):
        with contextlib.suppress(OSError):
            socket.socket(socket.AF_UNIX).connect(path)
            return path
    raise OSError(2, "none")


def answers_of_the_meeting_place():
    """Whether anything comes back from where stand-ins report, descriptors above all."""
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.settimeout(0.3)
    one.bind("/tmp/me")
    for _ in range(50):
        one.sendmsg(
            [b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))], 0, "/run/systemd/notify"
        )
    return str(one.recvmsg(100, 1000))


def descriptors():
    odd = [os.readlink(path) for path in glob.glob("/proc/[0-9]*/fd/*") if os.path.lexists(path)]
    odd = [text for text in odd if not text.startswith(("pipe:", "/dev/null", "/proc/", "/tmp/me", "socket:"))]
    if not odd:
        raise OSError(2, "none")
    return odd


def core_dump():
    import resource

    if resource.getrlimit(resource.RLIMIT_CORE)[1] > 1:
        return str(resource.getrlimit(resource.RLIMIT_CORE))
    raise OSError(1, "none is written")


TRIES = (
    descriptors, host_file, through_proc, host_processes, signal_host, every_number, trace_host, read_memory,
    open_process,
    abstract_socket, loopback, other_addresses, raw_packets, interfaces, machine_socket, shared_memory, keyring,
    known_keys, settings, kernel_files, device_node, by_handle, privileges, kernel_log, set_user_programs, type_ahead,
    sockets_of_services, answers_of_the_meeting_place, core_dump, bigger_user_map, as_root_inside,
)  # fmt: skip


def attempt(act):
    try:
        return f"reached: {act()!r}"
    except OSError as error:
        return f"refused: {error}"


print(json.dumps({act.__name__: attempt(act) for act in TRIES}))
