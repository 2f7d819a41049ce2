import test from 'ava'
import { secretsInArgument } from '../../../../core/base/words/in-arguments.js'
import { shellCommands } from '../../../../core/base/words/shell-words.js'

const read: readonly (readonly [text: string, commands: readonly (readonly string[])[]])[] = [
  ['a b;c&&d|e>f', [['a', 'b'], ['c'], ['d'], ['e'], ['f']]],
  ['(a b) `c` $(d "e f")', [['a', 'b'], ['c'], ['d', 'e f']]],
  [`a'b c'"d e"\\ f $'g\\'h' i\\;j`, [['ab cd e f', "g'h", 'i;j']]],
  ['"a\\"b\\$c" \'a\\b\' $d', [['a"b$c', 'a\\b', '$d']]],
  ['a \\\n  b\\\nc\nd', [['a', 'bc'], ['d']]],
  [`a # don't "b\nc#d`, [['a'], ['', "don't", '"b'], ['c#d']]],
  ['"$(a "b c" `d "e"` (f))" g', [['$(a "b c" `d "e"` (f))', 'g']]],
  [`"it's" b`, [["it's", 'b']]],
  [`cat <<'E' <<-F | b\nit's\n E\nE\n\tx\n\tF\nc`, [['cat'], ['b'], ["it's\n E\n"], ['\tx\n'], ['c']]],
  ['cat <<< "a b"\nc', [['cat'], ['a b'], ['c']]],
  ['cat <<E\na', [['cat'], ['a']]],
  [`a 'b c`, [['a', 'b c']]],
  ['a "b\\', [['a', 'b\\']]],
  ['', []],
]
for (const [text, commands] of read)
  test(`a text for a shell is read as a shell reads it: ${text}`, (t) => t.deepEqual(shellCommands(text), commands))

const told: readonly string[] = [
  'PASSWORD=@;',
  "PASSWORD='@';",
  'true -u bob:@;',
  'true -ubob:@&',
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
]
for (const text of told)
  test(`hooks-36, mcp-4: a value is told by its name whatever stands around it: ${text}`, (t) => {
    for (const secret of ['Blaubeerkuchen', 'canary-1~!'])
      t.true(secretsInArgument(text.replace('@', secret)).includes(secret))
  })

test('hooks-36: plain words of a command are no secrets', (t) => {
  const text =
    'set -e; mkdir -p /tmp/work && cd "$HOME" || exit 1; echo "no token here: look into the vault" >&2; ' +
    `jq '{"decision":"block"}' <<END\nname: builder\nEND\nexit 2 # a key is asked for`
  t.deepEqual(secretsInArgument(text), [])
})
