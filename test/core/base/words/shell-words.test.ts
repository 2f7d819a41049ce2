import test from 'ava'
import { secretsInArgument, secretsInArguments, secretsInCommand } from '../../../../core/base/words/in-arguments.js'
import { readShell } from '../../../../core/base/words/shell-words.js'

const read: readonly (readonly [text: string, commands: readonly (readonly string[])[]])[] = [
  ['a b;c&&d|e>f', [['a', 'b'], ['c'], ['d'], ['e'], ['f']]],
  ['(a b) `c` $(d "e f")', [['a', 'b'], ['c'], ['d', 'e f'], ['', '']]],
  [`a'b c'"d e"\\ f $'g\\'h' i\\;j`, [['ab cd e f', "g'h", 'i;j']]],
  ['"a\\"b\\$c" \'a\\b\' $d', [['a"b$c', 'a\\b', '$d']]],
  ['a \\\n  b\\\nc\nd', [['a', 'bc'], ['d']]],
  [`a # don't "b\nc#d`, [['a'], ['', "don't", '"b'], ['c#d']]],
  ['"$(a "b c" `d "e"` (f))" g', [['d', 'e'], ['a', 'b c', ''], ['f'], ['', 'g']]],
  [
    `a "$(echo -n b)$c-\\"d" $(printf '%s\\n' "e f" | base64) "\${g:-h i}\${j=k}"`,
    [['echo', '-n', 'b'], ['printf', '%s\\n', 'e f'], ['base64'], ['a', 'b$c-"d', 'e f', 'h ik']],
  ],
  [
    'a=(b "c d"\n$(echo e)) f g={h,i}j',
    [
      ['echo', 'e'],
      ['a=b', 'a=c d', 'a=e', 'f', 'g=i', 'g=hj'],
    ],
  ],
  ['a $(case b in c) echo d;; esac) e', [['case', 'b', 'in', 'c'], ['a', '', 'echo', 'd'], ['esac'], ['e']]],
  [`"it's" b`, [["it's", 'b']]],
  [`cat <<'E' <<-F | b\nit's\n E\nE\n\tx\n\tF\nc`, [['cat'], ['b'], ["it's\n E\n"], ['\tx\n'], ['c']]],
  ['cat <<< "a b"\nc', [['cat'], ['a b'], ['c']]],
  ['cat <<E\na', [['cat'], ['a']]],
  [`a 'b c`, [['a', 'b c']]],
  ['a "b\\', [['a', 'b\\']]],
  ['', []],
]
for (const [text, commands] of read)
  test(`a text for a shell is read as a shell reads it: ${text}`, (t) =>
    t.deepEqual(readShell(text).commands, commands))

const told: readonly string[] = [
  'PASSWORD=@;',
  "PASSWORD='@';",
  'curl -u bob:@;',
  'curl -ubob:@&',
  'sudo curl --user=bob:@ x',
  'redis-cli -h db -a @;',
  'sshpass -p @ ssh x',
  'docker login -u bob -p @;',
  'mongosh -u bob -p @;',
  'true --token=@&& b',
  'true --token @|cat',
  'y=$(true --token @)',
  'y=`true --token @`',
  '(true --token @)',
  'true --token @>/dev/null',
  "true -H 'X-Auth: @'; b",
  "true -H'X-Auth: @';",
  'true -H X-Auth:\\ @;',
  'true --token \\\n  @;',
  "true --token '@'\n# don't\n",
  'sh -c "true --token @"; b',
  `ssh host "sudo sh -c 'true --token \\"@\\"'"`,
  `y="$(true -H "X-Auth: @")"`,
  `true -d '{"password":"@"}';`,
  'true -d "{\\"login\\":{\\"password\\": \\"@\\"}}";',
  "true -d 'user=bob&password=@';",
  'cat <<END\npassword: @\nEND\nb',
  'cat <<\'END\'\n  api_key: "@",\nEND\nb',
  'sh <<END\ntrue --token @; b\nEND',
  'mysql -p@;',
  'sudo /usr/bin/mysqldump -ubob -p@ db',
  'true --token "$(echo @)"',
  'true --token $(echo -n @) b',
  'true --token `printf %s @`',
  'true --token "${TOK:-@}"; b',
  'PGPASSWORD="${P:=@}" psql',
  `true -H "Authorization: Basic $(printf %s 'bob:@' | base64)"`,
  'TOKEN=$(cat <<X\n@\nX\n)\nb',
  'true --token={@,x}',
  'TOKENS=(@ more)\nb',
  'TOKEN+=@; b',
  'true --token="$BEGIN-@"',
  'git clone https://x:${T:-@}@h/r',
  `ssh h 'true --token "$(echo "$(echo @)")"'`,
  'cat > f <<EOF\n[x]\ntoken = "@"\nEOF',
  'cat > f <<EOF\n[x]\npassword = @\nEOF',
  `perl -e '$password = "@";'`,
  `python3 -c 'os.environ["API_TOKEN"]="@"'`,
  `node -e 'fetch(x,{headers:{Authorization:"Bearer @"}})'`,
  'docker login --password-stdin <<EOF\n@\nEOF',
  'docker login -u bob --password-stdin 2>&1 <<< "@"',
  'cat <<E | docker login --password-stdin > log\n@\nE',
  'echo -n "@" | docker login -u x --password-stdin 2>/dev/null',
  'gh auth login --with-token <<< @',
  'read -r TOKEN <<< @; b',
  'mount -o username=bob,password=@ x',
  'helm upgrade --set x=1,db.password=@ r',
  'curl --oauth2-bearer @ x',
  'npm config set //r/:_authToken=@',
  'npm config set //r/:_authToken @',
  'aws configure set aws_secret_access_key @',
  `curl -H 'Cookie: sid=@' x`,
  'true --credential bob:@',
  'AUTH_HEADER="Bearer @" x',
  'curl -sSu bob:@ x',
  'ldapsearch -xw @',
  'zip -rP @ x y',
]
for (const text of told)
  test(`hooks-36, mcp-4: a value is told by its name whatever stands around it: ${text}`, (t) => {
    for (const secret of ['Blaubeerkuchen', 'canary-1~!']) {
      const given = text.replace(/@(?!h\/)/u, secret)
      t.true(secretsInCommand(given).includes(secret))
      t.true(secretsInArgument(given).includes(secret))
    }
  })

test('hooks-36, mcp-4: a user with a password is told behind `-u` of any program unless it is a plain word', (t) => {
  t.deepEqual(secretsInArgument('true -u bob:canary-1~! -ume:canary-2~!'), ['canary-1~!', 'canary-2~!'])
  t.deepEqual(secretsInArguments(['-p', 'canary-11', '-u', 'bob:canary-12']), ['canary-11', 'canary-12'])
})

const plain: readonly string[] = [
  'set -e; mkdir -p /tmp/work && cd "$HOME" || exit 1; echo "no token here: look into the vault" >&2; ' +
    `jq '{"decision":"block"}' <<END\nname: builder\nEND\nexit 2 # a key is asked for`,
  'mkdir -p dist/x build2; mkdir -pv build; cp -p release.txt backup.txt; install -p src/main tests',
  'mkdir -p "$HOME/.cache"; mkdir -p ~/.cache; tsc -p tsconfig.json; docker compose -p my-app2 up',
  'docker run -p 8080:80 -p 127.0.0.1:5432:5432/tcp -u app:staff img; docker run -u 1000:100000 img',
  'true -p release -u main:production; grep -u user:src/main file; mkdir -p dist/mysql',
  'AUTH=disabled node server.js; echo "Basic Authentication" "bearer tokens"; sort --key filename; psql --primary-key identifier; rg "token: string" src',
  'TOKEN="$(cat /run/secrets/token)" deploy production; TOKEN=$(vault kv get -field=password x/application) deploy',
  '[ "$AUTH" = "production" ] && echo staging; mysql -p$PASS shop_production; cp -rp source target',
  'curl -H "Authorization: Bearer $TOKEN" https://api.example.com/deployments; echo "$OUT" | grep password | sort',
  'tool --config key=settings,mode=production; git config set core.editor editor; docker exec -itu app:staff web bash',
  "python3 - <<'E'\npassword = get_password()\ntoken = args.token\nkey = sorted(values)\nE",
  'case "$1" in token) echo deployment;; esac; x=${NAME:-production}; y=(several words)',
  'grep -- "--token required" f; echo "password: required"; echo "a token: is needed here."',
]
for (const text of plain)
  test(`hooks-36: plain words and paths of a command are no secrets: ${text}`, (t) =>
    t.deepEqual(secretsInCommand(text), []))

test('mcp-4: nor are those behind `-p` of a program that nobody names', (t) => {
  for (const value of ['release', 'release.txt', 'dist/x', '8080:80', '@scope/server'])
    t.deepEqual(secretsInArguments(['-p', value]), [])
})
