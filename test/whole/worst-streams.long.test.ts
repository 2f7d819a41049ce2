/** No stream of a provider keeps the daemon from answering others. */
import test from 'ava'
import { spawnDaemon, type SpawnedDaemon } from '../support/daemon.js'
import { saying, startOpenAiServer, type OpenAiServer } from '../support/openai-server.js'
import { worstStreams } from './worst-streams.js'
import { leastOfTries, most, play, send, type Target } from './worst-texts.js'

let server: OpenAiServer | undefined
let daemon: SpawnedDaemon | undefined
test.before(async () => {
  server = await startOpenAiServer(() => saying('Hello'))
  const provider = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
  daemon = await spawnDaemon({ flags: [...provider, '--debug-level', 'redacted'] })
})
test.after.always(async () => {
  await daemon?.kill('SIGKILL')
  await server?.close()
})

worstStreams.forEach(({ title, reply }, n) => {
  test.serial(`others are answered while a provider sends ${title}`, async (t) => {
    if (daemon === undefined) throw new TypeError('no daemon')
    const target: Target = { url: daemon.url, workspace: '', session: `stream-${n}` }
    await send(target, 'POST', '/v1/sessions', { session_id: target.session })
    const worst = reply()
    server?.answer(({ body: { messages } }) => (JSON.stringify(messages).endsWith('Go on"}]') ? worst : saying('Done')))
    const longest = await leastOfTries(daemon, () => play(target, 'Go on'))
    t.true(longest <= most, `${Math.round(longest)} ms of work before another request was answered`)
  })
})
