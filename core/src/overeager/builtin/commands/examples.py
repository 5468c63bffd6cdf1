"""Calls of the commands of this set that show every kind as which they read."""

from __future__ import annotations

from collections.abc import Mapping

_CALLS = """
. f
[ -f f
awk {print} f
awk {print>"g"} f
base64 f
bunzip2 f
bzcat f
bzip2 f
cat f
chmod 600 f
chown user f
cmp f g
cp f g
cp -l f g
curl http://host/f
curl file:///f
curl -o f http://host/g
curl -T f http://host/g
cut -f1 f
dash f
bash f
sh f
dd if=f of=g
diff f g
docker volume rm v
docker run -v /f:/g image
ed f
ed -S f
egrep word f
ex f
ex -S f
expand f
fallocate -l 1 f
fgrep word f
fgrep -r word d
egrep -r word d
file f
find d
find d -delete
find d -fprint f
fmt f
fold f
gh repo delete r
git add f
git am f
git archive -o f HEAD
git branch -D b
git branch b
git checkout -b b
git checkout main
git cherry-pick c
git clean -fd
git clone https://host/r
git commit -m m
git commit --amend
git config user.name n
git fetch origin
git filter-branch f
git grep word
git init d
git ls-remote origin
git merge b
git mv f g
git pull origin
git push origin main
git push --force origin main
git rebase main
git reset --hard
git restore f
git rm f
git show HEAD:f
git stash drop
git stash pop
git switch -c b
git tag t
git tag -d t
git update-ref -d refs/heads/b
git worktree add d
git worktree remove d
grep word f
grep -r word d
gunzip f.gz
gzip f
head f
install f g
install -d d
kill 7
killall p
kubectl delete pod p
kubectl apply -f f
less f
ln f g
ls d
md5sum f
mkdir d
more f
mv f g
nl f
node f
node -e require('fs').rmSync('f')
node -e require('fs').readFileSync('f')
node -e require('fs').writeFileSync('f')
node -e require('fs').renameSync('f','g')
node -e require('fs').symlinkSync('f','g')
node -e require('fs').chmodSync('f')
node -e require('fs').mkdirSync('f')
node -e fetch('http://host/f')
npm install p
npm install -g p
npx p
od f
paste f
patch f g
perl f
perl -i -e s f
perl -e unlink('f')
perl -e rename('f','g')
perl -e open(F,'>','f')
perl -e get('http://host/f')
pip install p
pip install -r f
pip install -t d p
pkill p
psql -c DROP
psql -h host
psql -f f
psql -o f
python3 f
python3 -c open('f')
python3 -c open('f','w')
python3 -c os.remove('f')
python3 -c os.rename('f','g')
python3 -c os.chmod('f')
python3 -c os.mkdir('f')
python3 -c os.symlink('f','g')
python3 -c os.listdir('f')
python3 -c get('http://host/f')
python3 -m pip install p
rev f
rg word f.txt
rg word d
rg --files d
rm f
rmdir d
rsync f g
rsync f host:g
rsync --delete f g
scp f host:g
scp host:g f
scp --delete f g
sed s/a/b/ f
sed -i s/a/b/ f
sed w\tf g
sha256sum f
shred f
shred -u f
sort f
sort -o f g
source f
sqlite3 f DELETE
ssh host true
ssh -i f host true
stat f
strings f
sudo -e f
sudo true
tac f
tail f
tar cf f g.txt
tar cf f d
tar xf f
tar c --remove-files -f f d
tee f
terraform destroy
test -f f
touch f
truncate -s 0 f
uniq f
unlink f
unxz f.xz
unzip f
vi f
vi -S f
vim f
vim -S f
wc f
wget http://host/f
wget --post-file f http://host/g
xargs -a f
xxd f
xz f
xzcat f
zcat f
zip f g.txt
zip f d
zip -m f g
zstd f
zstd --rm f
zstdcat f
"""
"""One call a line; words stand between blanks, a tab is a blank in a word, `f` and `g` are files, `d` a folder."""


def read_examples() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """The calls by command."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for line in _CALLS.splitlines():
        if line:
            argv = tuple(word.replace("\t", " ") for word in line.split(" "))
            found.setdefault(argv[0], []).append(argv)
    return {command: tuple(calls) for command, calls in found.items()}
