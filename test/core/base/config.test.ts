import test from 'ava'
import { hintFor, readLayers, settingsOf, variableOf, type Sources } from '../../../core/base/config.js'
import { unknownField } from '../../../core/base/issue-rule.js'
import { nearest } from '../../../core/base/words/nearest.js'
import { array, boolean, defaulted, integer, object, optional, string } from '../../../core/base/schema.js'
import { daemonSettings, parseBind, readSettings } from '../../../core/base/settings.js'

const struct = object({
  base_url: defaulted(string({ min: 1 }), 'from the default'),
  retries: defaulted(integer({ min: 0, max: 9 }), 3),
  eager: defaulted(boolean(), false),
  names: defaulted(array(string()), []),
  api_key: optional(string()),
})
const settings = settingsOf({
  config: struct,
  flags: {
    base_url: 'provider-base-url',
    retries: 'provider-retries',
    eager: 'eager',
    names: 'provider-name',
    api_key: 'api-key',
  },
})

const sources = (given: Partial<Sources> = {}): Sources => ({
  struct,
  settings,
  file: { name: 'config/models.toml', table: {} },
  environment: {},
  flags: new Map(),
  guard: () => {},
  ...given,
})

test('runtime-1: a flag has a variable with the prefix of the service', (t) => {
  t.is(variableOf('provider-base-url', false), 'SERVICE_PROVIDER_BASE_URL')
})

test('runtime-43: the variable of a list is in the plural, and its flag is what it is called', (t) => {
  const variables = [...settings, ...daemonSettings].map(({ flag, variable }) => `${flag} ${variable}`)
  t.true(variables.includes('provider-name SERVICE_PROVIDER_NAMES'))
  t.true(variables.includes('http-allow-host SERVICE_HTTP_ALLOW_HOSTS'))
  t.is(variableOf('anthropic-beta-headers', true), 'SERVICE_ANTHROPIC_BETA_HEADERS')
  const environment = { SERVICE_PROVIDER_NAMES: 'a,b' }
  t.deepEqual(readLayers<{ names: string[] }>(sources({ environment })).names, ['a', 'b'])
})

test('runtime-1: each layer beats the one before it: default, file, environment, flag', (t) => {
  const file = { name: 'config/models.toml', table: { base_url: 'from the file' } }
  const environment = { SERVICE_PROVIDER_BASE_URL: 'from the environment' }
  const flags = new Map([['provider-base-url', 'from the flag']])
  const urlOf = (given: Partial<Sources>): string => readLayers<{ base_url: string }>(sources(given)).base_url
  t.is(urlOf({}), 'from the default')
  t.is(urlOf({ file }), 'from the file')
  t.is(urlOf({ file, environment }), 'from the environment')
  t.is(urlOf({ file, environment, flags }), 'from the flag')
})

test('where nothing is given a struct is read once, however often its configuration is asked for', (t) => {
  t.is(readLayers(sources()), readLayers(sources({ file: { name: 'config/other.toml', table: {} } })))
  t.not(readLayers(sources()), readLayers(sources({ file: { name: 'config/models.toml', table: { retries: 4 } } })))
})

test('runtime-1: an empty variable counts as not given', (t) => {
  t.is(readLayers<{ retries: number }>(sources({ environment: { SERVICE_PROVIDER_RETRIES: '' } })).retries, 3)
})

test('text is read by the type of its field', (t) => {
  const read = readLayers(
    sources({
      environment: { SERVICE_PROVIDER_RETRIES: '7', SERVICE_PROVIDER_NAMES: 'a, b,,c ' },
      flags: new Map([['eager', true]]),
    }),
  )
  t.like(read, { retries: 7, names: ['a', 'b', 'c'], eager: true })
  t.like(readLayers(sources({ environment: { SERVICE_EAGER: '0' } })), { eager: false })
})

test('runtime-2: what is wrong is named by its source and rule, never by its value', (t) => {
  const refused = (given: Partial<Sources>) =>
    t.throws(() => readLayers(sources(given)), { code: 'config_invalid' }).message
  t.is(refused({ flags: new Map([['provider-retries', 'many']]) }), '--provider-retries must be an integer')
  t.is(refused({ environment: { SERVICE_PROVIDER_RETRIES: '12' } }), 'SERVICE_PROVIDER_RETRIES must be at most 9')
  t.is(
    refused({ file: { name: 'config/models.toml', table: { retrys: 1 } } }),
    'config/models.toml retrys is not a known field; did you mean retries?',
  )
  t.is(refused({ flags: new Map([['provider-base-url', true]]) }), '--provider-base-url must be a string')
  const wrong = { retries: 'x', eager: 1, retrys: 1, a: 1, b: 1, c: 1 }
  const all = refused({ file: { name: 'f', table: wrong }, environment: { SERVICE_PROVIDER_RETRIES: '12' } })
  t.is(all, 'SERVICE_PROVIDER_RETRIES must be at most 9; wrong too: eager, retrys, a, b and 1 more')
})

test('runtime-2: what was meant says nothing contrary, and where it stands if that is elsewhere', (t) => {
  const struct = object({
    max_age: optional(string()),
    lid: optional(object({ min_size: optional(string()), rim: optional(object({})) })),
  })
  const hint = (path: string): string => hintFor({ path, rule: unknownField }, { struct, value: {} })
  t.is(hint('min_age'), '')
  t.is(hint('max_agee'), '; did you mean max_age?')
  t.is(hint('lid.max_size'), '')
  t.is(hint('lid.max_age'), '; max_age stands at the top level, beside lid')
  t.is(hint('lid.rim.min_size'), '; min_size stands in lid, beside rim')
  const file = { name: 'config/pots.toml', table: { pots: { max_age: '1d' } } }
  const { message } = t.throws(() => readLayers(sources({ struct, file })), { code: 'config_invalid' })
  t.is(message, 'config/pots.toml pots is not a known field: the file itself is that table, so leave [pots] out')
})

test('the result is frozen to its depth', (t) => {
  const read = readLayers<{ names: string[] }>(sources({ file: { name: 'f', table: { names: ['a'] } } }))
  t.throws(() => read.names.push('b'), { instanceOf: TypeError })
})

test('a value whose flag is named like a secret is guarded, others are not', (t) => {
  const guarded: string[] = []
  readLayers(
    sources({
      guard: (value) => guarded.push(value),
      environment: { SERVICE_API_KEY: 'k-123', SERVICE_PROVIDER_NAMES: 'x' },
    }),
  )
  t.deepEqual(guarded, ['k-123'])
})

test('an address is a host and a port', (t) => {
  t.deepEqual(parseBind('127.0.0.1:4000'), { host: '127.0.0.1', port: 4000 })
  t.deepEqual(parseBind('[::1]:0'), { host: '::1', port: 0 })
  t.deepEqual(parseBind('localhost:80'), { host: 'localhost', port: 80 })
  for (const text of ['', ':', '4000', 'host', '127.0.0.1:', '127.0.0.1:65536', '::1:4000', 'a b:1', '127.0.0.1:-1'])
    t.is(parseBind(text), undefined, text)
})

test('settings have absolute paths and the documented variables', (t) => {
  const environment = {
    SERVICE_STATE_ROOT: 'somewhere',
    SERVICE_DAEMON_ADMIN_TOKEN: 'admin-token',
    SERVICE_HTTP_CORS_ALLOW_ORIGINS: 'http://localhost:1,http://localhost:2',
  }
  const guarded: string[] = []
  const read = readSettings({ environment, flags: new Map(), guard: (value) => guarded.push(value) })
  t.is(read.stateRoot, `${process.cwd()}/somewhere`)
  t.is(read.bind, '127.0.0.1:4000')
  t.deepEqual(read.httpCorsAllowOrigin, ['http://localhost:1', 'http://localhost:2'])
  t.deepEqual(guarded, ['admin-token'])
})

test('the nearest name is offered only if it is near', (t) => {
  t.is(nearest('bnd', ['bind', 'state-root']), 'bind')
  t.is(nearest('sate-root', ['bind', 'state-root']), 'state-root')
  t.is(nearest('colour', ['bind', 'state-root']), undefined)
})
