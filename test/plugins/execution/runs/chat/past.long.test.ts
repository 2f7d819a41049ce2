/** Coming back to a session: what was said there, and what became of it; docs/rules/command-line.md. */
import test from 'ava'
import { spawnDaemon, spawnTestDaemon, type SpawnedDaemon } from '../../../../support/daemon.js'
import { calling, saying, startOpenAiServer } from '../../../../support/openai-server.js'
import { until } from '../../../../support/runs.js'
import { hasTmux, openPiped, openTerminal } from '../../../../support/screen.js'

/** With the demo model. */
let shared: Promise<SpawnedDaemon> | undefined
const usual = (): Promise<SpawnedDaemon> => (shared ??= spawnDaemon())
test.after.always(async () => void (await (await shared)?.stop()))

const at = ({ url }: SpawnedDaemon) => ({ SERVICE_DAEMON_URL: url })

test.serial('command-line-40: who comes back sees the last exchange with how it ended', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const daemon = await usual()
  await daemon.request('POST', '/v1/sessions', { session_id: 'stopped' })
  const content = '/say Looking.\n/tool read_file {"path":"no"}\n/sleep 100000'
  const { run_id } = (await daemon.request('POST', '/v1/sessions/stopped/runs', { content })).body
  const log = async (): Promise<string> =>
    JSON.stringify((await daemon.request('GET', '/v1/sessions/stopped/events')).body)
  while (!(await log()).includes('path_not_found')) await new Promise((resolve) => setTimeout(resolve, 20))
  await daemon.request('POST', '/v1/sessions/stopped/interrupt', {})
  await until(daemon, run_id, 'interrupted')
  const person = await openTerminal(t, ['chat', 'stopped'], at(daemon))
  const screen = await person.until(/^The run was interrupted\. \/retry makes it anew\.\n>$/mu)
  t.regex(screen, /^> \/say Looking[^>]*\n {2}Looking\.\nThe run/mu)
})

test.serial('command-line-40: /history shows the last exchanges, and /sessions where something was said', async (t) => {
  const daemon = await usual()
  const script = openPiped(t, ['chat', 'told'], at(daemon))
  for (const word of ['One', 'Two', 'Three']) {
    script.say(word)
    await script.until(new RegExp(`You said: ${word}\n`, 'u'))
  }
  const before = script.out().length
  script.say('/history 2')
  await script.until(/(?:You said: Three[\s\S]*){2}/u)
  t.is(script.out().slice(before), '> Two\nYou said: Two\n> Three\nYou said: Three\n')
  script.say('/history none')
  await script.until(/Say how many exchanges: \/history 1 to \/history 100\./u)
  script.say('/sessions')
  await script.until(/^20[-0-9: ]{14} {2}told \(this one\) {2}Three$/mu)
  script.end()
  t.is(await script.ended, 0)
})

test.serial('command-line-38: a call that waits behind a failed attempt is come back to with its input', async (t) => {
  const server = await startOpenAiServer(({ number }) =>
    number === 1
      ? { type: 'status', status: 500, body: '{"error":{"message":"broken"}}' }
      : number === 2
        ? calling({ id: 'c1', name: 'bash', input: '{"command":"echo one"}' })
        : saying('Made.'),
  )
  t.teardown(server.close)
  const flags = ['--provider', 'openai_compatible', '--provider-base-url', server.url, '--model', 'm']
  const daemon = await spawnTestDaemon(t, { flags })
  const first = openPiped(t, ['chat', 'waits'], at(daemon))
  first.say('Go')
  await first.until(/also tells the model why/u)
  first.end()
  t.is(await first.ended, 3)
  const back = openPiped(t, ['chat', 'waits'], at(daemon))
  await back.until(/also tells the model why/u)
  back.say('y')
  await back.until(/^• bash echo one\n {4}one\nMade\.$/mu)
  back.end()
  t.is(await back.ended, 0)
  if (!hasTmux(t)) return
  const person = await openTerminal(t, ['chat', 'waits'], at(daemon))
  await person.until(/^>$/mu)
  await daemon.request('POST', '/v1/sessions/waits/input', { content: 'Hello' })
  await person.until(/^From elsewhere: Hello\n {2}Made\.\n>$/mu)
})
