# Writes all that a program can see around it to files of at most 60000 bytes below ~/seen, by topic.
out=$HOME/seen
mkdir -p "$out"

# keep TOPIC COMMAND...: what it prints, as lines of ASCII; it has ended before anything else is started.
keep() {
  topic=$1; shift
  "$@" >"$out/raw" 2>&1
  LC_ALL=C tr -c '[:print:]\n' '\n' <"$out/raw" | tr -s '\n' | split -b 60000 - "$out/$topic."
  rm "$out/raw"
}

# Times are told of what was there before this day's work.
list() {
  find "$@" -not -path "$out*" \( -mmin +600 -printf '%M %n %u %g %s %T+ %p %l\n' -o -printf '%M %n %u %g %p %l\n' \) \
    2>/dev/null | sort -k7
}

self() {
  env | sort
  id; hostname; uname -n; pwd; umask; ulimit -a; tty; who; getent passwd; getent hosts gateway.internal
}

processes() {
  for process in /proc/[0-9]*; do
    for part in cmdline environ comm cgroup limits attr/current; do cat "$process/$part"; echo; done
    grep -E '^(Uid|Gid|Groups|Cap|Sig|Shd|NoNew|Seccomp|TracerPid)' "$process/status"
    ls -l "$process/fd" "$process/exe" "$process/cwd" "$process/root" "$process/ns" | sed 's/.* -> /-> /'
    sed 's/.* //' "$process/maps" | sort -u
  done 2>/dev/null
}

kernel() { cat /proc/keys /proc/key-users /proc/net/unix /proc/net/tcp /proc/sys/kernel/hostname; }
mounts() { cat /proc/self/mountinfo /proc/mounts; }
tree() { list / -xdev -not -path '/usr/*' -not -path '/proc*'; }

# /usr/local/libexec mirrors folders of the host's /usr.
places() {
  list /usr/local /run /dev /tmp /home -not -path '/usr/local/libexec/bin/*' -not -path '/usr/local/libexec/lib/*'
}

etc() {
  find /etc -type f -not -path '/etc/ssl/*' -not -path '/etc/alternatives/*' -not -path '/etc/fonts/*' \
    -not -name ld.so.cache | sort | xargs tail -n +1
}

home() { find "$HOME" -maxdepth 1 -type f | sort | xargs tail -n +1; }
agent() { find "$HOME/.claude" "$HOME/.local" /tmp -type f -size -100k | sort | xargs tail -n +1; }
git_files() { find "$HOME" -path '*.git/*' -type f -not -path '*/objects/*' | sort | xargs tail -n +1; }

history() {
  git config --list --show-origin
  git log --format=fuller --all --stat
  git reflog --all
  git stash list
  git for-each-ref
  git cat-file --batch-all-objects --batch-check
}

programs() { cat /usr/local/libexec/init /usr/bin/rm /usr/bin/git /usr/bin/cat /usr/local/bin/*; }

gateway() {
  for path in / /v1/messages /v1/models /nothing; do
    curl -s -i -m 5 "http://gateway.internal:8080$path"
    curl -s -i -m 5 -d '{}' "http://gateway.internal:8080$path"
  done
}

shells() {
  env -i sh -c 'env; set'
  bash -lc 'set; alias; declare -F; shopt'
}

for topic in self processes kernel mounts tree places etc home agent history programs gateway shells; do
  keep $topic $topic
done
keep git git_files
