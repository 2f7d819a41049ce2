/** What of a value of several lines, or of JSON, is known by itself. */
import test from 'ava'
import { guarding } from '../../../support/guarding.js'
import { isLinear } from '../../../support/linear.js'

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

test('secrets-21: a long value of one line is read in linear time', (t) => {
  for (const part of ['a=', 'a:"', 'a:"\\', "a='", '\n', 'a b=', '{"a":', '[', 'x://y@', 'a\n']) {
    const guard = (size: number): void => void guarding(`\n${part.repeat(size)}\n`)
    t.true(isLinear(guard, 8_000), part)
  }
})
