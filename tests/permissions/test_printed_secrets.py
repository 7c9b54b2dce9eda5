"""Commands that print secrets are asked about, and commands that resemble them are not."""

from __future__ import annotations

import pytest

from acp_tui.permissions.decision import decide
from acp_tui.permissions.rule_proposals import parse_spec
from tests.permissions.test_dangerous_commands import EVERYDAY
from tests.support.permissions import command, narrowest_rule

PRINTING = """
env
printenv
set
export -p
export
declare -p
declare -x
typeset -p
printenv GITHUB_TOKEN
echo $GITHUB_TOKEN
echo "${AWS_SECRET_ACCESS_KEY}"
printf '%s' "$OPENAI_API_KEY"
env -0
env -u PATH
env | sort
env | grep -i token
printenv | cat
set | less
sudo env
sh -c env
bash -lc 'export -p'
nice -n 5 printenv
timeout 5 env
busybox env
command env
cat x | xargs env
cd src && env
x=$(env)
python3 -c 'import os; print(os.environ)'
python -c 'import os; print(dict(os.environ))'
node -e 'console.log(process.env)'
node -p process.env -e 'console.log(JSON.stringify(process.env))'
ruby -e 'puts ENV.to_h'
perl -e 'print %ENV'
php -r 'print_r($_ENV);'
awk 'BEGIN{for (k in ENVIRON) print k, ENVIRON[k]}'
pwsh -c 'Get-ChildItem Env:'
jq -n env
jq -n '$ENV'
ps auxe
ps eww
systemctl --user show-environment
tmux show-environment -g
gh auth token
gh auth token --hostname x
gh auth status --show-token
gh auth status -t
glab auth status -t
aws configure get aws_secret_access_key
aws --profile x configure get aws_session_token
aws configure export-credentials
aws sts get-session-token
aws ecr get-login-password --region x
aws secretsmanager get-secret-value --secret-id x
aws ssm get-parameter --name x --with-decryption
gcloud auth print-access-token
gcloud auth application-default print-access-token
gcloud secrets versions access latest --secret=x
az account get-access-token
az keyvault secret show --name x --vault-name y
git credential fill
git credential-store get
git config --get http.https://github.com/.extraheader
pass show email/work
pass email/work
gopass show x
op read op://vault/item/password
op item get x --reveal
bw get password x
lpass show x
keepassxc-cli show db.kdbx x
vault kv get secret/x
vault kv get -field=a secret/x
vault read secret/x
vault print token
doppler secrets
sops -d secrets.yaml
sops decrypt secrets.yaml
gpg --export-secret-keys
gpg -d secrets.gpg
ansible-vault view x.yml
security find-generic-password -s x -w
security find-internet-password -s x
secret-tool lookup a b
keyring get service user
kubectl config view --raw
kubectl config view --minify --raw
kubectl get secret x -o yaml
kubectl -n app get secrets -o json
kubectl get secret/x -ojsonpath={.data}
kubectl exec pod -- env
oc whoami -t
docker compose config
docker compose -f x.yml config
docker-compose config
docker exec web env
docker run --rm image printenv
npm config get _authToken
npm config get //registry.npmjs.org/:_authToken
npm token list
npm run env
yarn config get npmAuthToken
heroku config
heroku auth:token
fly auth token
terraform output -json
terraform state pull
pulumi stack output --show-secrets
history
cat ~/.bash_history
tail -5 ~/.zsh_history
cat ~/.local/share/fish/fish_history
less ~/.python_history
cat /proc/1/environ
cat /proc/*/environ
cat /proc/self/environ
strings /proc/$PPID/environ
tr '\\0' '\\n' < /proc/self/environ
"""

HARMLESS = """
env A=1 make
env -u X make test
env -i PATH=/bin make
env --help
/usr/bin/env python3 x.py
printenv PATH
printenv HOME SHELL
echo $HOME $PATH
echo "$TOKENIZERS_PARALLELISM"
echo done
set -e
set -x; make
set -o pipefail; make
export A=1
export PATH=$PATH:x
declare -A map
declare -i n=1
typeset -i n
gh auth status
gh pr list
gh run view --log-failed
aws s3 ls
aws configure get region
aws configure list
aws sts get-caller-identity
aws ssm get-parameter --name x
gcloud auth list
gcloud config list
az account show
git config --get user.name
git config user.email
git remote -v
git log --show-signature
pass ls
pass git log
pass generate x
op --help
vault status
vault kv put secret/x a=b
kubectl config view
kubectl config current-context
kubectl get pods -o yaml
kubectl get secrets
kubectl get secret x
kubectl exec pod -- ls
kubectl logs pod
docker compose config --services
docker compose config -q
docker compose up
docker ps
docker exec web ls
npm config get registry
npm config list
npm run environment
yarn config get registry
terraform output
terraform plan
heroku logs
ps -e
ps -ef
ps aux
ps axo pid,command
python3 -c 'import os; print(os.environ["HOME"])'
python3 -c 'import os; print(os.environ.get("HOME"))'
node -e 'console.log(process.env.NODE_ENV)'
ruby -e 'puts ENV["HOME"]'
awk 'BEGIN{print ENVIRON["HOME"]}'
gpg --verify x.sig
gpg --import key.asc
sops --version
systemctl status x
jq .environment package.json
security list-keychains
cat HISTORY.md
cat history.txt
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize("line", lines(PRINTING))
def test_a_command_that_prints_secrets_is_asked_about_under_every_policy(line: str) -> None:
    subject = command(line)
    assert subject.sensitive_names
    assert decide(subject, policy="yolo").answer == "ask"
    everything = parse_spec("execute", "allow")
    assert decide(subject, policy="yolo", run_rules=[everything]).answer == "ask"


@pytest.mark.parametrize("line", lines(HARMLESS) + lines(EVERYDAY))
def test_a_command_that_prints_no_secrets_is_not_disturbed(line: str) -> None:
    assert command(line).sensitive_names == ()
    assert decide(command(line), policy="yolo").answer == "allow"


def test_only_an_exact_rule_allows_a_command_that_prints_secrets() -> None:
    subject = command("gh auth token")
    assert decide(subject, policy="ask", run_rules=[parse_spec("execute:gh auth", "allow")]).answer == "ask"
    exact = narrowest_rule(subject, decision="allow")
    assert exact is not None
    assert decide(subject, policy="ask", rules=[exact]).answer == "allow"


def test_a_part_of_a_line_that_prints_secrets_keeps_rules_for_the_others_from_allowing_it() -> None:
    rules = [parse_spec(f"execute:{name}", "allow") for name in ("ls", "printenv")]
    assert decide(command("ls && printenv PATH"), policy="ask", run_rules=rules).answer == "allow"
    assert decide(command("ls && printenv"), policy="ask", run_rules=rules).answer == "ask"
