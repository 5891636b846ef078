#!/bin/sh
# Installs jpg {{VERSION}} and `git jpg`, without Node: a program of its own, in ~/.local/bin or where JPG_BIN says. Run it again
# for a newer version; to uninstall, remove `jpg` and `git-jpg` there, and the manual's pages in ../share/man/man1.
set -eu

version='{{VERSION}}'
from=${JPG_DOWNLOADS:-'{{DOWNLOADS}}'}
bin=${JPG_BIN:-$HOME/.local/bin}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64 | Linux-amd64)
    system=linux-x64
    sum={{SHA256:linux-x64.tar.gz}}
    ;;
  *) fail "There is no program of jpg for $(uname -s) on $(uname -m). With Node 20.19 or newer: npm i -g jpg-cli" ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
name=jpg-$version-$system
archive=$folder/$name.tar.gz
if command -v curl >/dev/null; then
  curl -fsSL -o "$archive" "$from/$name.tar.gz" || fail "$from/$name.tar.gz could not be fetched."
elif command -v wget >/dev/null; then
  wget -q -O "$archive" "$from/$name.tar.gz" || fail "$from/$name.tar.gz could not be fetched."
else
  fail "It needs curl or wget."
fi

if command -v sha256sum >/dev/null; then
  found=$(sha256sum <"$archive")
else
  found=$(shasum -a 256 <"$archive")
fi
[ "${found%% *}" = "$sum" ] || fail "What was fetched is not jpg $version: its SHA-256 is ${found%% *}, not $sum. Nothing was installed."

tar -xzf "$archive" -C "$folder"
mkdir -p "$bin"
# Beside the old one first, so that the change is one step.
cp "$folder/$name/jpg" "$bin/.jpg.new"
chmod 755 "$bin/.jpg.new"
mv -f "$bin/.jpg.new" "$bin/jpg"
ln -sf jpg "$bin/git-jpg"
# Where `man` looks for programs of that folder.
pages=$bin/../share/man/man1
mkdir -p "$pages"
cp "$folder/$name"/man/*.1 "$pages/"
echo "jpg $version is installed: $bin/jpg"
case ":$PATH:" in
  *":$bin:"*) ;;
  *) echo "Put $bin on your PATH to start it as jpg." ;;
esac
