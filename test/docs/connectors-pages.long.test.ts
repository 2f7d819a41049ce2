/** The pages on programs that post and on Telegram are true: their lines are run as somebody who pastes them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { startBotApi } from '../support/telegram/bot-api.js'
import { freshRoot, mainFile, spawnTestDaemon } from '../support/daemon.js'
import { blocksFor, sh } from '../support/docs.js'
import { eventually } from '../support/mcp.js'

const token = '4242:AAF-sesame_7731'
const preludeOf = (url: string, more = ''): string =>
  `set -e\nholdfast() { ${more}SERVICE_DAEMON_URL=${url} '${process.execPath}' '${mainFile}' "$@"; }\n`

test('what the page on programs that post shows works, with a token and with a signature', async (t) => {
  const [{ url, request }, folder] = [await spawnTestDaemon(t), await freshRoot()]
  const blocks = blocksFor('docs/connectors-http.md', 'connectors-http')
  const out: string[] = []
  for (const block of blocks) {
    const ran = await sh(preludeOf(url) + block.replaceAll('http://127.0.0.1:4000', url), folder)
    t.deepEqual([ran.code, ran.err], [0, ''], `${block}\n${ran.out}`)
    out.push(ran.out)
  }
  t.like(JSON.parse(out[1] ?? ''), { session_id: 'orders', kind: 'input' })
  t.like(JSON.parse(out.at(-1) ?? ''), { session_id: 'orders', kind: 'input' })
  t.is((await request('GET', '/v1/runs')).body.length, 2)
  t.like((await request('GET', '/v1/runtime/connectors/http/orders')).body, {
    require_hmac_signature: true,
    bearer_token: { configured: true },
    health: { state: 'ok' },
  })
  const taken = await sh(`${preludeOf(url)}holdfast connectors put http orders --set bearer_token={}`, folder)
  t.is(taken.code, 0, taken.err)
  const signed = await sh(
    (blocks.at(-1) ?? '').replaceAll('http://127.0.0.1:4000', url).replace(/ -H "authorization[^\\]*/u, ' '),
    folder,
  )
  t.like(JSON.parse(signed.out), { session_id: 'orders', status: 'completed' }, 'the same order, signed alone')
})

test('a bot is set up by the lines of its page, polls, and hears by webhook then', async (t) => {
  const [root, api] = [await freshRoot(), await startBotApi([token])]
  t.teardown(api.close)
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  const page = 'docs/connectors-telegram.md'
  writeFileSync(join(root, 'config', 'telegram.toml'), blocksFor(page, 'connectors-telegram-file').join('\n'))
  const { url, request } = await spawnTestDaemon(t, { root })
  const folder = await freshRoot()
  writeFileSync(join(folder, 'bot.txt'), `${token}\n`, { mode: 0o600 })
  const base = `[ "$2" = put ] && set -- "$@" --set api_base_url=${api.base}; `
  const run = async (block: string): Promise<string> => {
    const ran = await sh(preludeOf(url, base) + block.replaceAll('https://api.telegram.org', api.base), folder)
    t.deepEqual([ran.code, ran.err], [0, ''], `${block}\n${ran.out}`)
    t.false(ran.out.includes(token))
    return ran.out
  }
  const [first = '', list = '', ...others] = blocksFor(page, 'connectors-telegram')
  await run(first)
  const chat = { id: 1111, type: 'private', first_name: 'Ada' }
  api.push({ message: { message_id: 1, date: 1_710_000_000, chat, from: { ...chat, is_bot: false }, text: 'Hello' } })
  await api.until(() => api.of('sendMessage').length === 1, 'the answer')
  t.regex(await run(list), /telegram:desk:1111/u)
  const shown: string[] = []
  for (const block of others) shown.push(await run(block))
  t.regex(shown[0] ?? '', /^ +state +ok$/mu)
  const { body } = await request('GET', '/v1/runtime/connectors/telegram/desk')
  t.like(body, { ingress_mode: 'webhook', allowed_chat_ids: [1111], stream_replies: true, approver_ids: ['1111'] })
  const [hook] = api.of('setWebhook')
  t.is(new URL(String(hook?.fields['url'])).pathname, '/v1/connectors/telegram/desk')
  const update = { update_id: 9000, message: { message_id: 2, date: 1, chat, from: chat, text: 'By webhook' } }
  const header = { 'x-telegram-bot-api-secret-token': String(hook?.fields['secret_token']) }
  t.is((await request('POST', '/v1/connectors/telegram/desk', update, header)).status, 200)
  await eventually(async () => ((await request('GET', '/v1/runs')).body.length === 2 ? true : undefined))
})
