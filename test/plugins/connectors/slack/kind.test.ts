import test from 'ava'
import { createSlackKind } from '../../../../plugins/connectors/slack/setup/kind.js'
import { specialAddresses } from '../../../support/special-addresses.js'
import { settingsOf } from './bench.js'

const kind = createSlackKind({ allow_cidrs: [], timeout_ms: 1000 })
const fault = (settings: object, secrets: readonly string[] = ['signing_secret'], of = kind) =>
  of.fault({ name: 'main', settings: settingsOf(settings), has: (name) => secrets.includes(name) })

test('slack-1: what is not said has a default', (t) => {
  t.deepEqual(settingsOf(), {
    allow_unauthenticated_ingress: false,
    ingress_events_per_second: 60,
    include_self_output: true,
    additional_reply_targets: [],
    additional_binding_keys: [],
    stream_replies: false,
    approver_ids: [],
    allowed_api_app_ids: [],
    allowed_enterprise_ids: [],
    allowed_team_ids: [],
    allowed_channel_ids: [],
    allowed_file_hosts: [],
  })
  t.deepEqual(kind.secrets, ['bot_token', 'signing_secret'])
  t.deepEqual(kind.secretLists, { team_bot_tokens: { id: 'team_id', secret: 'bot_token' } })
})

test('slack-2: lists are kept sorted and without repetitions, hosts in small letters, a rate is at least 1', (t) => {
  const normal = kind.normal?.(
    settingsOf({
      ingress_events_per_second: 0,
      allowed_team_ids: [' T2', 'T1', 'T2', ' '],
      allowed_file_hosts: ['Files.Example', 'a.example', 'files.example '],
    }),
  )
  t.like(normal, {
    ingress_events_per_second: 1,
    allowed_team_ids: ['T1', 'T2'],
    allowed_file_hosts: ['a.example', 'files.example'],
  })
})

test('slack-3: without a signing secret it must be said that anybody may send', (t) => {
  t.is(fault({}), undefined)
  t.is(fault({}, [])?.path, 'signing_secret')
  t.is(fault({ allow_unauthenticated_ingress: true }, []), undefined)
})

test('slack-4: the base of the API is an absolute URL without user, query or fragment', (t) => {
  for (const api_base_url of ['https://slack.com/api', 'http://slack.example/api/'])
    t.is(fault({ api_base_url }), undefined, api_base_url)
  for (const api_base_url of [
    'slack.com/api',
    'ftp://slack.com/api',
    'https://u:p@slack.com/api',
    'https://slack.com/api?x=1',
    'https://slack.com/api?',
    'https://slack.com/api#x',
  ])
    t.is(fault({ api_base_url })?.path, 'api_base_url', api_base_url)
})

test('slack-4: the base of the API is at no private, local or special address, in any spelling', (t) => {
  t.true(specialAddresses.length >= 80, String(specialAddresses.length))
  for (const host of specialAddresses)
    for (const scheme of ['http', 'https'])
      t.regex(fault({ api_base_url: `${scheme}://${host}/api` })?.rule ?? '', /must/u, host)
  const open = createSlackKind({ allow_cidrs: ['127.0.0.0/8'], timeout_ms: 1000 })
  t.is(fault({ api_base_url: 'http://127.0.0.1:1/api' }, ['signing_secret'], open), undefined)
  t.regex(fault({ api_base_url: 'http://10.0.0.1/api' }, ['signing_secret'], open)?.rule ?? '', /config\/slack\.toml/u)
})

test('slack-21: a target that a connector keeps for itself is within its lists', (t) => {
  const draft = { name: 'main', settings: settingsOf({ allowed_channel_ids: ['C1'] }), has: () => true }
  const refused = (address: object, plugin = 'slack') =>
    kind.refuseTarget?.(draft, { plugin, address: JSON.stringify(address) })
  t.is(refused({ connector: 'main', channel_id: 'C1' }), undefined)
  t.regex(refused({ connector: 'main', channel_id: 'C2' }) ?? '', /^must be within/u)
  t.is(refused({ connector: 'other', channel_id: 'C2' }), undefined, 'its own connector looks at it')
  t.is(refused({ connector: 'main', channel_id: 'C2' }, 'telegram'), undefined)
})
