#!/bin/sh
# Makes what the hosts of the walk have: certificates, a repository, packages and keys.
#
#   prepare.sh FOLDER NAME…    the names that the certificate is for
set -eu
cd "$1"
shift

# A certificate authority, and a certificate for all names.
curve="ec -pkeyopt ec_paramgen_curve:prime256v1"
openssl req -x509 -newkey $curve -nodes -days 2 -subj "/CN=Authority of a test" \
    -addext keyUsage=critical,keyCertSign,cRLSign -keyout authority.key -out authority.pem 2>/dev/null
openssl req -newkey $curve -nodes -subj "/CN=$1" -keyout key.pem -out request.pem 2>/dev/null
printf 'extendedKeyUsage=serverAuth\nsubjectAltName=' >extensions
printf 'DNS:%s,' "$@" | sed 's/,$//' >>extensions
openssl x509 -req -in request.pem -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
    -extfile extensions -out certificate.pem 2>/dev/null
# The certificates of a machine that trusts this authority and no other.
mkdir certs
cp authority.pem certs/ca-certificates.crt
cp authority.pem certs/authority.pem
openssl rehash certs 2>/dev/null
# Chromium has authorities of its own. It is told to accept this one key.
openssl x509 -in certificate.pem -pubkey -noout | openssl pkey -pubin -outform der |
    openssl dgst -sha256 -binary | base64 >key-hash
# Firefox too, and is told to add one.
if [ -d /usr/share/firefox-esr/distribution ]; then
    cp -r /usr/share/firefox-esr/distribution firefox
    echo '{"policies": {"Certificates": {"Install": ["/etc/ssl/certs/authority.pem"]}}}' >firefox/policies.json
fi

git init -q -b main work
echo "in the repository" >work/file
git -C work add file
git -C work -c user.name=Test -c user.email=test@example.com commit -q -m First
git clone -q --bare work repository.git
git -C repository.git config http.receivepack true

python3 -I - <<'PYTHON'
import zipfile
with zipfile.ZipFile("tiny-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tiny.py", "WORD = 'from the wheel'\n")
    about = "tiny-1.0.dist-info/"
    wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(about + "RECORD", f"tiny.py,,\n{about}METADATA,,\n{about}WHEEL,,\n{about}RECORD,,\n")
PYTHON

mkdir package
echo '{"name": "small", "version": "1.0.0", "main": "index.js"}' >package/package.json
echo 'module.exports = "from the tarball";' >package/index.js
tar -czf small-1.0.0.tgz package

# The home of the only account that the host for ssh has.
mkdir -p -m 700 account/.ssh
ssh-keygen -q -t ed25519 -N '' -f account-key
cp account-key.pub account/.ssh/authorized_keys
dropbearkey -t ed25519 -f host-key >/dev/null 2>&1
