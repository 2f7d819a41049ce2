import test from 'ava'
import { parse } from '../../../../../core/plugin.js'
import { assert } from '../../../../../core/base/assert.js'
import { ServerEntry } from '../../../../../plugins/tools/mcp/config/entry.js'
import { literalsOf } from '../../../../../plugins/tools/mcp/config/literals.js'

const found = (entry: object): string[] => {
  const parsed = parse(ServerEntry, entry)
  assert(parsed.ok, 'it is an entry')
  return [...new Set(literalsOf(parsed.value))]
}

const secret = 'canary-1~!'
const args: readonly (readonly string[])[] = [
  [`--token=${secret}`],
  [`-token=${secret}`],
  ['--api-key', secret],
  ['-y', 'server', '--client-secret', secret, '--verbose'],
  [`API_TOKEN=${secret}`, 'server'],
  ['--header', `Authorization: Bearer ${secret}`],
  [`--header=X-Api-Key:${secret}`],
  ['-c', `cd /tmp && DB_PASSWORD='${secret}' exec server --port 1`],
  ['-c', `server --api-key "${secret}"`],
  ['-c', `server --api-key ${secret}; exit`],
  ['-c', `(server --api-key ${secret})|cat`],
  [`https://x.example/?a=1&api_key=${secret}`],
  [`--url=https://x.example/mcp?access_token=${secret}#top`],
  [`postgres://user:${secret}@x.example/db`],
  ['-su', `bob:${secret}`],
  ['--set', `x=1,db.password=${secret}`],
  ['--oauth2-bearer', secret],
  [`--//r/:_authToken=${secret}`],
  [`--opts={"list":{"apiKey":["x","${secret}"]}}`],
  [`--creds=bob:${secret}`],
  [`--api-key=\${X:-${secret}}`],
  ['--cookie', `sid=${secret}`],
  ['--config', `[x]\ntoken = "${secret}"\n`],
  [`https://x.example/?sig=${secret}`],
  [`--repository`, `https://${secret}@x.example/r.git`],
]
for (const given of args)
  test(`mcp-4: an argument that tells of a secret makes its value one: ${given.join(' ')}`, (t) =>
    t.true(found({ command: 'server', args: [...given] }).includes(secret)))

const values: readonly string[] = [
  `postgres://user:${secret}@x.example/db`,
  `https://x.example/?api_key=${secret}`,
  `Server=x;User=y;Password=${secret}`,
  `Bearer ${secret}`,
  `//r/:_authToken=${secret}`,
  `-Xmx1g -Dapi.token=${secret} -Dcolour=red`,
]
for (const value of values)
  test(`mcp-4: so does a variable or a header of an ordinary name: ${value}`, (t) => {
    t.true(found({ command: 'server', env: { SETTINGS: value } }).includes(secret))
    t.true(found({ url: 'https://x.example', headers: { 'x-settings': value } }).includes(secret))
  })

test('mcp-4: so does the query of an address, decoded and as it is written', (t) => {
  t.deepEqual(found({ url: 'https://x.example/mcp?page=1&api_key=a%2Fcanary%3D%3D&name=ordinary' }), [
    'a%2Fcanary%3D%3D',
    'a/canary==',
  ])
})

test('mcp-4: what no name tells of stays an ordinary word', (t) => {
  const ordinary = ['-y', '@scope/server', '--root', '/data', '--key-file', '/etc/key', '--token', '--verbose', 'A=b']
  t.deepEqual(
    found({ command: 'npx', args: [...ordinary, '--session', '/var/lib/x', 'https://x.example:1/a?b=c'] }),
    [],
  )
  const env = {
    MODE_KEY: 'production',
    HOT_KEY: 'escape',
    COLOUR: 'vermilion',
    HOME_PAGE: 'https://x.example/a?page=1',
    OPTIONS: '-Xmx1g -Dcolour=red',
  }
  t.deepEqual(found({ command: 'x', env }), [])
})

test('mcp-4: an argument of any form is looked through in no more time than its length asks for', (t) => {
  for (const piece of [
    'a=',
    '://',
    "' ",
    '&x=',
    '--token ',
    '"$(',
    '"`',
    '<<a\n',
    'mysql -px ',
    '"a":"',
    'a: b\n',
    '$(',
    '{a,',
    'a=(b ',
    'a|',
    'a=1,',
  ])
    t.true(Array.isArray(found({ command: 'x', args: [piece.repeat(131_072 / piece.length)] })), piece)
})
