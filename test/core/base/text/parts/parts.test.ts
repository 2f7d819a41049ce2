/** What of a value of several lines, or of JSON, is known by itself. */
import test, { type ExecutionContext } from 'ava'
import { guarding } from '../../../../support/guarding.js'
import { isLinear } from '../../../../support/linear.js'

const redacting = (value: string): ((text: string) => string) => guarding(value).redact

/** Made up, of as many lines as a key has, the last one short. */
const bytes = Array.from({ length: 199 }, (_, at) => String.fromCharCode(33 + ((at * 37) % 90))).join('')
const keyLines =
  Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,64}/gu) ?? []
const pem = ['-----BEGIN KEY-----', ...keyLines, '-----END KEY-----'].join('\n')
const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://10.0.0.1:6443
  name: production
users:
- name: admin-user
  user:
    token: 9sdf8s7df98s7df98s7dfABC
    client-key: /etc/kubernetes/client.key
`
const ini = `[client]
# This is the configuration of the client
user = root
host = localhost
port = 3306
repository = ssh://deploy@git.example.com/x
password = correct horse battery
`
const code = `function main(password: string) {
  const token = process.env.TOKEN
  key = getKey(1)
  return true;
}
const limits = { "enabled": true, "scopes": [ "read" ] }
const secret = 'hunterhunter', auth = "required"
`

test('secrets-21: each line of a key is known by itself, the marks around it are not', (t) => {
  for (const value of [pem, pem.replaceAll('\n', '\r\n'), pem.replaceAll('\n', '\\n'), `KEY="${pem}"\nPORT=80`]) {
    const redact = redacting(value)
    for (const line of keyLines) t.is(redact(`a line: ${line}`), 'a line: [redacted]', line)
    t.regex(redact(keyLines.join('')), /^(?:\[redacted\])+$/u)
    t.is(redact('-----BEGIN KEY-----'), '-----BEGIN KEY-----')
  }
  const random = 'f3A9k2LmQ8zX1vB7nR5t'
  t.is(redacting(`elephants\n${random}\n`)(`elephants ${random}`), 'elephants [redacted]', 'also without marks')
})

test('secrets-21: lines that are no secret by themselves are not known, whatever else the value holds', (t) => {
  const redact = redacting(`${kubeconfig}${ini}${code}`)
  const innocent = [kubeconfig, ini, code]
    .flatMap((text) => text.split('\n'))
    .filter((line) => !/token: 9|horse|hunter/u.test(line))
  for (const line of innocent) t.is(redact(line), line)
  const text = 'my ghost = localhosts, support = 3306, a correct horse, username, string, deploy, required'
  t.is(redact(text), text)
})

test('secrets-21: what a line calls by the name of a secret, or what looks like one, is known by itself', (t) => {
  const redact = redacting(`${kubeconfig}${ini}${code}
API_KEY=sdf98sdfplain
export DB_PASS=hunter-hunter # of the database
"quoted": "ghp_abcdefghijklmnop1234",
DATABASE_URL=postgres://app:letmeinplease@db/x
Authorization: Bearer abc-def-123
{"a":{"refresh_token":"in \\"quotes\\""}}
key: username
`)
  const secrets = [
    '9sdf8s7df98s7df98s7dfABC',
    'correct horse battery',
    'hunterhunter',
    'sdf98sdfplain',
    'hunter-hunter',
  ]
  const more = ['ghp_abcdefghijklmnop1234', 'letmeinplease', 'abc-def-123', 'in "quotes"']
  for (const secret of [...secrets, ...more]) {
    t.is(redact(`x="${secret}", y`), 'x="[redacted]", y', secret)
    t.is(redact(JSON.stringify(`the\n${secret}\n`)), String.raw`"the\n[redacted]\n"`, secret)
    t.regex(redact(Buffer.from(`user:${secret}`).toString('base64')), /\[redacted\]/u, secret)
  }
  t.is(redact('a username'), 'a username')
})

test('secrets-21: strings in JSON are known by themselves, however it is written', (t) => {
  const members = { type: 'authorized_user', client_secret: 'GOCSPX-abcdefghijk', enabled: true, private_key: pem }
  const nested = { list: [{ token: 'nested-token' }], json: JSON.stringify({ password: 'in json in json' }) }
  const value = { ...members, ...nested }
  for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2)]) {
    const redact = redacting(text)
    t.is(redact('{"client_secret":"GOCSPX-abcdefghijk"}'), '{"client_secret":"[redacted]"}')
    t.is(redact("{'token': 'nested-token'} in json in json"), "{'token': '[redacted]'} [redacted]")
    for (const line of keyLines) t.is(redact(`> ${line}`), '> [redacted]')
    const innocent = '{ "type": "authorized_user",\n  "enabled": true,\n'
    t.is(redact(innocent), innocent)
  }
})

test('secrets-21: a word that is known by itself is found at the borders of words, also behind an escape or a flag', (t) => {
  const redact = redacting('[a]\npassword = hunter\n')
  for (const whole of [
    ' hunter ',
    '"hunter"',
    String.raw`\nhunter\n`,
    '%3Dhunter%26',
    '_hunter_',
    '-phunter',
    '\u001b[31mhunter',
  ])
    t.is(redact(whole), whole.replace('hunter', '[redacted]'))
  for (const part of ['hunters', 'ahunter', 'a-phunter', 'hunter2']) t.is(redact(part), part)
  t.is(redacting('[a]\npassword = abcde\n')('abcde'), 'abcde', 'fewer than six characters')
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const knows = (t: ExecutionContext, value: string, ...secrets: readonly string[]): void => {
  for (const secret of secrets)
    t.is(redacting(value)(`it is "${secret}".`), 'it is "[redacted]".', `${value}: ${secret}`)
}
const knowsNot = (t: ExecutionContext, value: string, ...texts: readonly string[]): void => {
  for (const text of texts) t.is(redacting(value)(`it is "${text}".`), `it is "${text}".`, `${value}: ${text}`)
}

test('secrets-21: a value of one line is taken apart by its shape', (t) => {
  const token = 'brr-6613-nn'
  for (const before of ['Bearer ', 'token ', 'Authorization: Bearer ', 'me:', 'API_KEY=', 'https://h.example/x?token='])
    knows(t, `${before}${token}`, token)
  for (const value of [
    `Server=h;Password=${token};`,
    `host=h password=${token} dbname=d`,
    `postgres://me:${token}@h/db`,
  ])
    knows(t, value, token)
  knows(t, 'postgres://me:p%40ss-w@h/db', 'p%40ss-w', 'p@ss-w')
  knows(t, 'Bearer lampwards', 'lampwards')
})

test('secrets-21: what base64 says is known by itself, and the password of a user in it', (t) => {
  const encoded = base64('bob:tigerlily')
  const files = [
    JSON.stringify({ auths: { 'registry.example': { auth: encoded } } }),
    `x: y\nAuthorization: Basic ${encoded}\n`,
  ]
  for (const value of [`Basic ${encoded}`, encoded, ...files]) knows(t, value, encoded, 'bob:tigerlily', 'tigerlily')
  const secret = `kind: Secret\ndata:\n  password: ${base64('s3cr-tt!x')}\n  tls.key: ${base64(pem)}\n  user: ${base64('someone')}\n`
  knows(t, secret, 's3cr-tt!x', ...keyLines)
  knows(t, base64(pem), ...keyLines)
  knowsNot(t, secret, 'someone')
})

test('secrets-21: a value of one line that has no secret part makes nothing else known', (t) => {
  knowsNot(t, 'https://h.example/path/of/it', 'h.example', '/path/of/it', 'https')
  knowsNot(t, '/etc/holdfast/secret.key', 'holdfast', 'secret.key')
  knowsNot(t, 'user:profile', 'profile')
  knowsNot(t, 'localhost:5432/db', '5432/db', 'localhost')
  knowsNot(t, 'correct horses', 'horses', 'correct')
  knowsNot(t, 'postgres://postgres:postgres@localhost/db', 'postgres', 'localhost')
  knowsNot(t, 'postgres://holdfast:holdfast@localhost/db', 'holdfast')
})

test('secrets-21: words that everybody uses are not known, whatever they are called', (t) => {
  const file =
    'PASSWORD=password\nDB_PASSWORD=holdfast-1\nA_SECRET=secret\nA_TOKEN=API_TOKEN\nHOLDFAST_TOKEN=holdfast\n'
  knowsNot(
    t,
    `${file}DB_PASS=postgres\nADMIN_PASSWORD=changeme\n`,
    'password',
    'secret',
    'API_TOKEN',
    'holdfast',
    'postgres',
    'changeme',
  )
  knows(t, file, 'holdfast-1')
})

test('secrets-21: entries of a list are called as the list is, and members of a map of many', (t) => {
  const lists = {
    secret: ['arr-sec-one'],
    keys: ['list-Key-77a', 'up-arrow'],
    tokens: [[{ value: 'deep-wordly7', id: 'id-12345' }]],
  }
  const value = { ...lists, passwords: { alice: 'wonder-land', username: 'wonderer' }, auth: { mode: 'mode-123456' } }
  const known = ['arr-sec-one', 'list-Key-77a', 'deep-wordly7', 'wonder-land']
  knows(t, JSON.stringify(value), ...known)
  knowsNot(t, JSON.stringify(value), 'id-12345', 'wonderer', 'mode-123456', 'up-arrow')
  knows(t, 'tokens: [zlist-37c, "zlist-38c"]\npasswords: {alice: zali-53c}\n', 'zlist-37c', 'zlist-38c', 'zali-53c')
  const numbers = '{"password": 48291377, "token": 48291378, "max_tokens": 48291379}'
  knows(t, numbers, '48291377')
  knowsNot(t, numbers, '48291378', '48291379')
})

test('secrets-21: words that say something of secrets, or stand in a list, are none', (t) => {
  const file = `tokens: [read-only, writer]
secrets:
  engine: transit
  key: another
passwords:
  hashing: bcrypt
  policy: strict
`
  knowsNot(t, file, 'read-only', 'writer', 'transit', 'another', 'bcrypt', 'strict')
  knowsNot(t, '{"passwords":{"policy":"strict"},"secrets":["another"]}', 'strict', 'another')
})

test('secrets-21: a value of one line that ends as a line of a file is taken apart', (t) => {
  knows(t, 'Bearer n1-nl-77x\n', 'n1-nl-77x')
  knows(t, 'bob:pass-12x\r\n', 'pass-12x')
  knows(t, 'Bearer n2-nl-77x\nX', 'n2-nl-77x')
})

test('secrets-21: headers, arguments and files stand in values of settings', (t) => {
  knows(t, 'A=b\nHEADERS=Authorization=Bearer q1-otel-77x', 'q1-otel-77x')
  knows(t, 'A=b\nHEADER=Authorization: Bearer q3-hdr-77x', 'q3-hdr-77x')
  knows(t, `A=b\nOPTS="-H 'Authorization: Bearer q4-hdr-77x'"`, 'q4-hdr-77x')
  knows(t, 'A=b\nSAS=https://h.example/x?sig=zsas66cAbc', 'zsas66cAbc')
  knows(t, 'import os\nos.environ["API_TOKEN"] = "py-22k-abc"', 'py-22k-abc')
  const docker = Buffer.from('{"auths":{"r.io":{"password":"q8-dock-77x"}}}').toString('base64')
  knows(t, `kind: Secret\ndata:\n  .dockerconfigjson: ${docker}\n`, 'q8-dock-77x')
})

test('secrets-21: entries stand below the name of their list or map in YAML, too', (t) => {
  const file = `tokens: # of all
- 'zlist-37c'
-   zlist-38c # the second
users:
  - name: user-12345
    keys:
      - value: zkey-39c
        made: date-12345
      - zkey-40c
passwords:
  alice: "zali-53c"
  bob:
    value: zbob-54c
    made: date-67890
  carol: wonder-land
colour: vermilion-55
`
  knows(t, file, 'zlist-37c', 'zlist-38c', 'zkey-39c', 'zkey-40c', 'zali-53c', 'zbob-54c', 'wonder-land')
  knowsNot(t, file, 'user-12345', 'date-12345', 'date-67890', 'vermilion-55')
})

test('secrets-21: variables are read as a shell reads them, and values of YAML behind its tags', (t) => {
  knows(t, 'DEPLOY_SECRET="alpha-Line9-Qx7\nbeta-Line8-Wz3"\nPORT=8080', 'alpha-Line9-Qx7', 'beta-Line8-Wz3')
  const file = String.raw`DB_PASSWORD="zesc\$51c"
TOKEN2=xyz9\ zyx8
C_PASSWORD=z"mix-50c"z
D_PASSWORD=zsp-45c OTHER_SETTING=foobar
export A_TOKEN=zone-11a B_TOKEN=ztwo-12a
  - "QUOTED_TOKEN=zquo-34c"
  api_key: !vault zvlt-54c
`
  knows(t, file, 'zesc$51c', 'xyz9 zyx8', 'zmix-50cz', 'zsp-45c', 'zone-11a', 'ztwo-12a', 'zquo-34c', 'zvlt-54c')
  knowsNot(t, file, 'foobar')
  const json = `GOOGLE_CREDENTIALS='{\n  "type": "service_account",\n  "private_key": "in-wordly"\n}'\nX=1`
  knows(t, json, 'in-wordly')
  knowsNot(t, json, 'service_account')
})

test('secrets-21: a value is known without the blanks and the quotes that it was copied with, and each text of a list', (t) => {
  for (const value of [' kettle-one9 \n', '"kettle-one9"', "'kettle-one9'\r\n", ' "kettle-one9" '])
    t.is(redacting(value)('it is (kettle-one9).'), 'it is ([redacted]).', value)
  t.is(redacting(JSON.stringify('two "words" of it'))('two "words" of it'), '[redacted]')
  knows(t, '"Bearer kettle-two9"', 'kettle-two9')
  knows(t, '["kettle-one9", "kettle-two9"]', 'kettle-one9', 'kettle-two9')
  knowsNot(t, '["read-only", "production", "/etc/kettle9"]', 'read-only', 'production', '/etc/kettle9')
  knowsNot(t, '["kettle-one9", {"mode": "kettle-two9"}]', 'kettle-one9', 'kettle-two9')
  knowsNot(t, '" password "', 'password')
})

test('secrets-21: a value is told by a name that stands in another member or line of its entry', (t) => {
  const list = [
    { name: 'API_KEY', value: 'kettle-one9' },
    { name: 'MODE', value: 'kettle-mode9' },
    { Value: 'hunterword', Key: 'DB_PASSWORD' },
    { name: 'api_token', description: 'kettle-text9', value: 'required' },
    { name: 'Authorization', value: 'Bearer kettle-two9' },
  ]
  knows(t, JSON.stringify(list), 'kettle-one9', 'hunterword', 'kettle-two9')
  knowsNot(t, JSON.stringify(list), 'kettle-mode9', 'kettle-text9', 'required', 'API_KEY', 'api_token')
  const yaml = `env:
  - name: API_KEY
    value: "kettle-one9"
  - name: MODE
    value: kettle-mode9
- key: DB_PASSWORD
  value: hunterword
`
  knows(t, yaml, 'kettle-one9', 'hunterword')
  knowsNot(t, yaml, 'kettle-mode9', 'API_KEY', 'DB_PASSWORD')
})

test('secrets-21: each of several values under one name is known, and what YAML, fish and commands have', (t) => {
  for (const value of [
    'A=b\nTOKENS="kettle-one9 kettle-two9"',
    'TOKENS=kettle-one9,kettle-two9\nA=b',
    'API_KEYS=kettle-one9;kettle-two9',
  ])
    knows(t, value, 'kettle-one9', 'kettle-two9')
  knowsNot(t, 'A=b\nTOKENS="access-one refresh"', 'access-one', 'refresh')
  knows(t, 'Cookie: sid=kettle-one9; theme=dark-blue', 'kettle-one9')
  knowsNot(t, 'Cookie: sid=kettle-one9; theme=dark-blue', 'dark-blue', 'theme')
  const yaml =
    'password: !!str kettle-one9\nsecret: &b kettle-two9\ntoken: !!str &c "kettle-three9"\nmode: &d kettle-four9\n'
  knows(t, yaml, 'kettle-one9', 'kettle-two9', 'kettle-three9')
  knowsNot(t, yaml, 'kettle-four9')
  knows(
    t,
    'set -x MODE dark-9\nset -gx API_TOKEN kettle-one9\nsetenv DB_PASSWORD "kettle-two9"\n',
    'kettle-one9',
    'kettle-two9',
  )
  knowsNot(t, 'set -x MODE dark-9\nset -gx API_TOKEN kettle-one9\n', 'dark-9', 'API_TOKEN')
  const command =
    'curl -H "Authorization: Bearer kettle-one9" -H "Accept: application/json9" -u bob:kettle-two9 https://h.example/path9'
  knows(t, command, 'kettle-one9', 'kettle-two9')
  knowsNot(t, 'mysql -u root -p database-name', 'database-name', 'root')
  knowsNot(t, command, 'application/json9', 'https://h.example/path9', 'Accept')
})

test('secrets-21: a long value of one line is read in linear time', (t) => {
  for (const part of [
    'a=',
    'a:"',
    'a:"\\',
    "a='",
    '\n',
    'a b=',
    '{"a":',
    '[',
    'x://y@',
    'https://a:b@',
    'a\n',
    'a: [',
    'a=b ',
    'a:b:',
    'a=\\',
    'a="\n',
    'QUFB',
    '- ',
    'a -u b:c ',
    'set -g A ',
    "'\\",
    '- name: a\n  value: b\n',
    'a: !b &c ',
    'TOKENS=a,b;',
  ]) {
    for (const end of ['', '\n']) {
      const guard = (size: number): void => void guarding(`${end}${part.repeat(size)}${end}`)
      t.true(isLinear(guard, 8_000), part)
    }
  }
})
