/** Two terminals on one session: `holdfast chat` beside another one; docs/rules/command-line.md. */
import test, { type ExecutionContext } from 'ava'
import { spawnDaemon, spawnTestDaemon, type SpawnedDaemon } from '../../../../support/daemon.js'
import { until } from '../../../../support/runs.js'
import { hasTmux, openPiped, openTerminal, type Terminal } from '../../../../support/screen.js'

/** With the demo model. */
let shared: Promise<SpawnedDaemon> | undefined
const usual = (): Promise<SpawnedDaemon> => (shared ??= spawnDaemon())
test.after.always(async () => void (await (await shared)?.stop()))

const at = ({ url }: SpawnedDaemon) => ({ SERVICE_DAEMON_URL: url })
const times = (text: string, part: string): number => text.split(part).length - 1
const enter = (person: Terminal, text: string): void => {
  person.type(text)
  person.press('Enter')
}

/** Two people at one session, both at their prompts. */
const two = async (t: ExecutionContext, session_id: string) => {
  const daemon = await usual()
  const first = await openTerminal(t, ['chat', session_id], at(daemon))
  await first.until(/^>$/mu)
  const second = await openTerminal(t, ['chat', session_id], at(daemon))
  await second.until(/^>$/mu)
  const runs = async (): Promise<any[]> => (await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body
  return { daemon, first, second, runs }
}

test.serial(
  'command-line-22: what is said in one terminal is seen in the other, and what is typed there is kept',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const { first, second, runs } = await two(t, 'both')
    second.type('half a')
    await second.until(/^> half a$/mu)
    enter(first, 'Hello')
    await first.until(/^ {2}You said: Hello\n>$/mu)
    await second.until(/^From elsewhere: Hello\n {2}You said: Hello\n> half a$/mu)
    enter(second, ' thought')
    await second.until(/You said: half a thought\n>$/mu)
    const screen = await first.until(/^From elsewhere: half a thought\n {2}You said: half a thought\n>$/mu)
    t.is(times(screen, 'You said: Hello'), 1)
    t.is((await runs()).length, 2)
  },
)

test.serial(
  'command-line-22: an approval is asked in both terminals, and the other one says what was answered',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const { first, second, runs, daemon } = await two(t, 'asks')
    enter(first, '//tool bash {"command":"echo one"}')
    await first.until(/allow bash\?$/mu)
    await second.until(/^From elsewhere: \/tool bash[\s\S]*allow bash\?$/mu)
    enter(second, 'y')
    await first.until(/^ {2}Answered elsewhere: allowed\.\n• bash echo one[\s\S]*Done\.\n>$/mu)
    t.false((await second.until(/Done\.\n>$/mu)).includes('Answered elsewhere'))
    enter(second, '//tool bash {"command":"echo two"}')
    await second.until(/echo two[\s\S]*allow bash\?$/mu)
    await first.until(/echo two[\s\S]*allow bash\?$/mu)
    enter(second, 'n not today')
    await first.until(/^ {2}Answered elsewhere: denied\.\n[\s\S]*not made: bash echo two[\s\S]*\n>$/mu)
    enter(first, '//ask Which? | Red | Blue')
    await first.until(/answer:$/mu)
    await second.until(/answer:$/mu)
    enter(second, '2')
    await first.until(/^ {2}Answered elsewhere\.\n[\s\S]*\n>$/mu)
    const statuses = (await runs()).map(({ status }) => status)
    t.deepEqual(statuses, ['completed', 'completed', 'completed'])
    const { body } = await daemon.request('GET', '/v1/sessions/asks/events')
    const kinds = body.session.journal.map(({ entry }: any) => entry.event?.type)
    t.is(kinds.filter((kind: string) => kind === 'approval_resolved').length, 2)
  },
)

test.serial('command-line-22: of two answers at once one counts, and the other terminal is told', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const { first, second, runs, daemon } = await two(t, 'races')
  for (let round = 1; round <= 3; round += 1) {
    enter(first, `//tool bash {"command":"echo ${round}"}`)
    const asked = new RegExp(`echo ${round}[\\s\\S]*allow bash\\?$`, 'mu')
    await Promise.all([first.until(asked), second.until(asked)])
    first.type('y')
    second.type('n')
    for (const one of round % 2 === 0 ? [first, second] : [second, first]) one.press('Enter')
    const over = new RegExp(`(?:Done\\.[\\s\\S]*){${round}}\\n>$`, 'u')
    const screens = await Promise.all([first.until(over), second.until(over)])
    // Where one was so much faster that the other was not asked any more, it says how that was answered.
    const told =
      screens.join('').split(/That came too late: it was answered elsewhere\.|Answered elsewhere: /u).length - 1
    t.is(told, round)
    t.false(screens.join('').includes('_conflict'))
  }
  t.deepEqual(
    (await runs()).map(({ status }) => status),
    ['completed', 'completed', 'completed'],
  )
  const { body } = await daemon.request('GET', '/v1/sessions/races/events')
  const kinds = body.session.journal.map(({ entry }: any) => entry.event?.type)
  t.is(kinds.filter((kind: string) => kind === 'approval_resolved').length, 3)
})

test.serial(
  'command-line-22: Ctrl-C beside a run of others leaves the run alone, and its messages wait behind it',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const { daemon, first, second, runs } = await two(t, 'leaves')
    enter(first, '//sleep 100000')
    await second.until(/^From elsewhere: \/sleep 100000$/mu)
    second.press('C-c')
    await second.until(/^It goes on, and is not shown here any more\.\n>$/mu)
    enter(second, 'Next')
    await second.until(/^Another run of this session goes first\.$/mu)
    t.deepEqual(
      (await runs()).map(({ status }) => status),
      ['running', 'queued'],
    )
    first.press('C-c')
    await second.until(/^ {2}You said: Next\n>$/mu)
    await first.until(/^The run was interrupted\.[\s\S]*From elsewhere: Next\n {2}You said: Next\n>$/mu)
    t.is((await daemon.request('GET', '/readyz')).status, 200)
  },
)

test.serial('command-line-22: lines of a script answer nothing that others were asked', async (t) => {
  const daemon = await usual()
  const script = openPiped(t, ['chat', 'plain'], at(daemon))
  script.say('Hello')
  await script.until(/You said: Hello/u)
  const body = { content: '/tool bash {"command":"echo hi"}' }
  const run = (await daemon.request('POST', '/v1/sessions/plain/runs', body)).body
  await until(daemon, run.run_id, 'waiting_for_approval')
  script.say('y')
  await script.until(/Another run of this session goes first\./u)
  t.is((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body.status, 'waiting_for_approval')
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`, {})
  await script.until(/You said: y/u)
  script.end()
  t.is(await script.ended, 0)
  t.false(script.out().includes('From elsewhere'))
})

test.serial('command-line-22: a terminal at its prompt sees what comes behind a restart of the daemon', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const daemon = await spawnTestDaemon(t)
  const person = await openTerminal(t, ['chat', 'again'], at(daemon))
  await person.until(/^>$/mu)
  await daemon.kill('SIGKILL')
  const next = await spawnTestDaemon(t, { root: daemon.root, bind: new URL(daemon.url).host })
  await next.request('POST', '/v1/sessions/again/runs', { content: 'Hello' })
  await person.until(/^From elsewhere: Hello\n {2}You said: Hello\n>$/mu)
  person.press('C-d')
  t.regex(await person.until(/^ended 0$/mu), /You said: Hello/u)
})

test.serial(
  'command-line-43: a run says what goes on in it while nothing comes, and nothing of that stays',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const person = await openTerminal(t, ['chat', 'alive'], at(await usual()))
    await person.until(/^>$/mu)
    enter(person, '//sleep 4000')
    await person.until(/sleep 4000\n… thinking [12] s$/u)
    person.type('next')
    await person.until(/sleep 4000\n… thinking [3-9] s$/u)
    const screen = await person.until(/^> next$/mu)
    t.false(screen.includes('thinking'))
    t.regex(screen, /sleep 4000\n {2}Done\.\n> next$/u)
  },
)
