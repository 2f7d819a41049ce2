/** The page on Slack is true: its lines are run as somebody who pastes them, and its app is one that can be heard. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, mainFile, spawnTestDaemon } from '../support/daemon.js'
import { blocksFor, sh } from '../support/docs.js'
import { botToken, messageEvent, signed, signingSecret, startSlack } from '../support/slack-server.js'

const page = 'docs/connectors-slack.md'

test('a connector is set up by the lines of the page, and hears what its app tells', async (t) => {
  const [root, slack] = [await freshRoot(), await startSlack(t)]
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'config', 'slack.toml'), blocksFor(page, 'connectors-slack-file').join('\n'))
  const { url, request } = await spawnTestDaemon(t, { root })
  const folder = await freshRoot()
  writeFileSync(join(folder, 'signing.txt'), `${signingSecret}\n`, { mode: 0o600 })
  writeFileSync(join(folder, 'bot.txt'), `${botToken}\n`, { mode: 0o600 })
  const before = `set -e\nholdfast() { SERVICE_DAEMON_URL=${url} '${process.execPath}' '${mainFile}' "$@"; }\n`
  const live = blocksFor('docs/connectors-live.md', 'connectors-live')
  for (const block of [...blocksFor(page, 'connectors-slack'), ...live]) {
    const { code, out, err } = await sh(before + block, folder)
    t.deepEqual([code, err], [0, ''], `${block}\n${out}`)
    t.false(out.includes(botToken) || out.includes(signingSecret))
  }
  const at = '/v1/runtime/connectors/slack/main'
  t.like((await request('GET', at)).body, {
    stream_replies: true,
    approver_ids: ['U0123456'],
    allowed_team_ids: ['T0123456'],
    allowed_channel_ids: ['C0123456'],
    health: { state: 'ok' },
  })
  await request('PUT', at, { api_base_url: slack.base })
  const authorizations = [{ team_id: 'T0123456' }]
  const place = { context_team_id: 'T0123456', team_id: 'T0123456', authorizations }
  const text = JSON.stringify(messageEvent({ channel: 'C0123456' }, place))
  t.is((await request('POST', '/v1/connectors/slack/main', text, signed(text))).status, 200)
  await slack.until(() => slack.messages.some((message) => message.text === 'hello'), 'an answer')
})

test('the app of the page is told of messages, may answer them, and sends to the path of its connector', (t) => {
  const manifest = JSON.parse(blocksFor(page, 'connectors-slack-manifest').join('\n'))
  const { event_subscriptions: events, interactivity } = manifest.settings
  for (const { request_url } of [events, interactivity])
    t.is(new URL(request_url).pathname, '/v1/connectors/slack/main')
  for (const kind of ['channels', 'groups', 'im', 'mpim']) {
    t.true(events.bot_events.includes(`message.${kind}`))
    t.true(manifest.oauth_config.scopes.bot.includes(`${kind}:history`), 'without it Slack does not send them')
  }
  for (const scope of ['chat:write', 'files:read', 'files:write'])
    t.true(manifest.oauth_config.scopes.bot.includes(scope), scope)
})
