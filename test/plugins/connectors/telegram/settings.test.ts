/** How a telegram connector may be set up, and what its files come to; docs/rules/telegram.md. */
import test from 'ava'
import { parse, type JsonObject } from '../../../../core/plugin.js'
import { telegramFiles } from '../../../../plugins/connectors/telegram/files.js'
import { telegramKind, telegramSettings } from '../../../../plugins/connectors/telegram/bot/settings.js'
import { isLasting } from '../../../../plugins/connectors/telegram/updates/lasting.js'
import { filesOf } from '../../../../plugins/connectors/telegram/updates/media.js'
import { ingressErrors } from '../../../../plugins/connectors/ingress/contract.js'
import { failing, hanging, type StoredFile } from '../../../support/telegram/bot-api.js'
import { connectorOf, startParts, token } from './telegram-parts.js'

const kind = telegramKind({ allow_cidrs: ['127.0.0.1/32'] })
const faultOf = (settings: JsonObject, ...secrets: string[]): string | undefined => {
  const parsed = parse(telegramSettings, settings)
  if (!parsed.ok) return parsed.issues[0]?.path
  const draft = { name: 'bot', settings: parsed.value, has: (secret: string) => secrets.includes(secret) }
  return kind.fault(draft)?.path
}

test('telegram-1, telegram-2, telegram-3, telegram-4: what a connector says, and what it cannot say', (t) => {
  const { settings } = connectorOf()
  t.like(settings, {
    ingress_mode: 'webhook',
    polling_timeout_seconds: 30,
    ingress_events_per_second: 100,
    include_self_output: true,
    allow_unauthenticated_ingress: false,
    allowed_chat_ids: [],
  })
  const both = ['bot_token', 'secret_token']
  t.is(faultOf({}, ...both), undefined)
  t.is(faultOf({}, 'secret_token'), 'bot_token', 'answers need a token')
  t.is(faultOf({ include_self_output: false }, 'secret_token'), undefined)
  t.is(faultOf({}, 'bot_token'), 'secret_token')
  t.is(faultOf({ allow_unauthenticated_ingress: true }, 'bot_token'), undefined)
  t.is(faultOf({ ingress_mode: 'polling', include_self_output: false }), 'bot_token', 'polls need a token')
  t.is(faultOf({ ingress_mode: 'polling' }, 'bot_token'), undefined)
  t.is(faultOf({ ingress_mode: 'push' }, ...both), 'ingress_mode')
  t.is(faultOf({ polling_timeout_seconds: 0 }, ...both), 'polling_timeout_seconds')
  const baseFault = (api_base_url: string) => faultOf({ api_base_url }, ...both)
  for (const good of ['https://api.telegram.org', 'http://bots.example:8081/x/', 'http://127.0.0.1:8081'])
    t.is(baseFault(good), undefined, good)
  const special = ['10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:10.0.0.1]', '0.0.0.0', '127.0.0.2', '100.64.0.1']
  for (const host of special) t.is(baseFault(`http://${host}/`), 'api_base_url', host)
  const wrong = [
    'api.telegram.org',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://a.example?x',
    'https://a.example#',
  ]
  for (const url of wrong) t.is(baseFault(url), 'api_base_url', url)
  const draft = { name: 'bot', settings: connectorOf({ allowed_chat_ids: [5] }).settings, has: () => true }
  const target = (chat_id: number, connector = 'bot') => ({
    plugin: 'telegram',
    address: JSON.stringify({ connector, chat_id }),
  })
  t.is(kind.refuseTarget?.(draft, target(5)), undefined)
  t.is(kind.refuseTarget?.(draft, target(6, 'other')), undefined)
  t.regex(kind.refuseTarget?.(draft, target(6)) ?? '', /allowed_chat_ids/u)
})

const basic = { message_id: 1, chat: { id: 1 } }

test('telegram-12: the document comes first, then the largest photo, under names that are names', (t) => {
  const photo = [
    { file_id: 'a', width: 10, height: 10 },
    { file_id: '../b', width: 20, height: 20 },
    { file_id: 'c', file_size: 90 },
  ]
  const [named, picture] = filesOf({ ...basic, photo, document: { file_id: 'd', file_name: 'a/..\u202E\n.txt' } })
  t.deepEqual(named, { file_id: 'd', file_name: 'a_..__.txt' })
  t.like(picture, { file_id: '../b', media_type: 'image/jpeg' })
  t.regex(picture?.file_name ?? '', /^telegram-photo-[0-9a-f]{32}\.jpg$/u)
  t.is(filesOf({ ...basic, photo: [{ file_id: 'AgAC' }] })[0]?.file_name, 'telegram-photo-AgAC.jpg')
  t.like(filesOf({ ...basic, document: { file_id: 'd', mime_type: 'Text/HTML; charset=x' } })[0], {
    file_name: 'telegram-document.bin',
    media_type: 'text/html',
  })
})

test('telegram-13: a file comes, is refused, or is asked for again', async (t) => {
  const parts = await startParts(t)
  const { api } = parts
  const source = telegramFiles({ ...parts, elapsed: () => 0 })
  const stored: Record<string, StoredFile> = {
    good: { path: 'documents/a b.bin', bytes: Buffer.from('abc') },
    empty: { path: 'documents/empty', bytes: Buffer.from('') },
    large: { path: 'documents/large', bytes: Buffer.from('abc'), size: 13 * 1024 * 1024 },
    dots: { path: '../../getMe', bytes: Buffer.from('abc') },
  }
  for (const [id, file] of Object.entries(stored)) api.keep(id, file)
  const connector = connectorOf({ api_base_url: api.base })
  const fetched = (file_id: string, signal = new AbortController().signal) =>
    source.fetch(connector, { file_id, file_name: 'x.bin' }, signal)
  const came = await fetched('good')
  t.like(came, { type: 'file', file: { file_name: 'x.bin', media_type: 'application/octet-stream' } })
  t.is(came.type === 'file' && Buffer.from(came.file.bytes).toString(), 'abc')
  for (const id of ['empty', 'large', 'dots', 'unknown']) t.is((await fetched(id)).type, 'refused', id)
  const reads = api.calls.filter(({ method }) => method !== 'getFile').map(({ path }) => path.split('/').at(-1))
  t.deepEqual(reads, ['a%20b.bin', 'empty'], 'a path that is none is not asked for')
  api.on('getFile', failing(429, 'Too Many Requests', { retry_after: 3 }))
  t.like(await fetched('good'), { type: 'retry', retry_after_ms: 3000 })
  api.on('getFile', failing(500, `Internal ${token}`))
  const failed = await fetched('good')
  t.is(failed.type, 'retry')
  t.false(JSON.stringify(failed).includes(token))
  api.on('getFile', hanging)
  t.is((await fetched('good', AbortSignal.timeout(50))).type, 'retry')
  const mute = { ...connector, name: 'mute' }
  t.is((await source.fetch(mute, { file_id: 'good', file_name: 'x' }, new AbortController().signal)).type, 'refused')
})

test('telegram-22: what a repetition would not mend is passed over, and nothing else', (t) => {
  const conflict = (reason: string) => ingressErrors.conflict({ members: { reason } })
  const refused = (reason: string) => ingressErrors.bad_request({ members: { reason } })
  for (const lasting of ['session_missing', 'session_policy', 'session_bound', 'other_payload', 'event_expired'])
    t.true(isLasting(conflict(lasting)), lasting)
  for (const lasting of ['persona_missing', 'run_input_missing', 'message_empty', 'chat_not_allowed'])
    t.true(isLasting(refused(lasting)), lasting)
  const passing = [
    conflict('not_possible'),
    refused('not_set_up'),
    ingressErrors.telegram_ingress_rate_limited(),
    ingressErrors.rate_limited(),
    ingressErrors.service_unavailable(),
    new TypeError('broken'),
  ]
  for (const error of passing) t.false(isLasting(error), String(error))
})
