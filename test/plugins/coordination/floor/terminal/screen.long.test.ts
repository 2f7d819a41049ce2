/** `channels follow` on terminals of few rows, while many have the floor. */
import test, { type ExecutionContext } from 'ava'
import { callTool, done } from '../../../../../plugins/providers/scripted/contract.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { spawnTestDaemon } from '../../../../support/daemon.js'
import { createLatch } from '../../../../support/latch.js'
import { hasTmux, openShell, openTerminal, type Terminal } from '../../../../support/screen.js'
import { ann, channel, eventually, handsOf, startBots } from '../bots.js'

/** Eight turns: the last one that was granted waits for a person, another one is under way, and the others are queued. */
const startMany = async (t: ExecutionContext) => {
  const gate = createLatch()
  t.teardown(() => gate.open())
  const daemon = await startBots(t, ['A', 'C'], {
    script: async ({ bot }) => {
      if (bot === 'C') return [callTool('asked', 'bash', { command: 'ls' }), done('tool_calls')]
      await gate.wait()
      return undefined
    },
  })
  for (let n = 0; n < 7; n += 1) {
    // The one that was granted last would pass on first.
    const autonomy_policy = { max_agent_replies_per_human_message: 1, lease_timeout_ms: 60_000 - 5_000 * n }
    t.is((await daemon.request('PUT', channel, { autonomy_policy })).status, 200)
    await daemon.post(`@A work on ${n}`)
  }
  await daemon.post('@C list it')
  const asking = async (): Promise<any[]> => (await daemon.request('GET', '/v1/runs?status=waiting_for_approval')).body
  const [asks] = await eventually(asking, ({ length }) => length === 1)
  await eventually(daemon.leases, ({ length }) => length === 8)
  return Object.assign(daemon, { asks: asks.run_id as string })
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Looks now and then: the daemon is in this process, which stands still while it looks. */
const untilShown = async (terminal: Terminal, wanted: RegExp): Promise<string> => {
  for (let n = 0; n < 300; n += 1) {
    const text = terminal.shown()
    if (wanted.test(text)) return text
    await sleep(200)
  }
  throw new Error(`${String(wanted)} is not shown: ${terminal.shown()}`)
}
const occurrences = (text: string, part: RegExp): number => [...text.matchAll(part)].length

for (const LINES of ['24', '12'])
  test.serial(
    `floor-23: on ${LINES} rows what is said comes into view, and the line that lets a turn go on stays there`,
    async (t) => {
      if (!hasTmux(t)) return t.pass()
      const daemon = await startMany(t)
      const size = { SERVICE_DAEMON_URL: daemon.url, COLUMNS: '80', LINES }
      const terminal = await openTerminal(t, ['channels', 'follow', 'garden'], size)
      const line = `C waits for a person\\n +holdfast approvals allow ${daemon.asks} \\S+\\n {2}- It asks to use bash `
      await untilShown(terminal, new RegExp(`list it\\n${line}[^]*\\n… \\d+ more lines$`, 'u'))
      await daemon.post('DO YOU SEE ME')
      const shown = await untilShown(terminal, new RegExp(` {2}DO YOU SEE ME\\n${line}`, 'u'))
      t.regex(shown, /\n… \d+ more lines$/u)
      await untilShown(terminal, LINES === '24' ? /9 messages/u : /DO YOU SEE ME/u)
      for (let n = 0; n < 3; n += 1) await daemon.request('PUT', channel, { title: `Garden ${n}` })
      await daemon.post('AND ME')
      await untilShown(terminal, new RegExp(` {2}AND ME\\n${line}`, 'u'))
      const all = terminal.screen()
      for (const once of [/waits for a person/gu, /more lines$/gmu, /DO YOU SEE ME/gu, /AND ME/gu])
        t.is(occurrences(all, once), 1, all)
    },
  )

test.serial(
  'command-line-24: a block as high as the terminal is drawn again without a copy to scroll back to',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const daemon = await spawnTestDaemon(t)
    await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'Garden 0', members: [ann] })
    for (let n = 0; n < 5; n += 1)
      await daemon.request('POST', `${channel}/stimuli`, {
        content: `Idea ${n}`,
        scope: 'channel',
        kind: 'agent_idea',
        available_at_ms: Date.now() + 3_600_000,
      })
    const size = { SERVICE_DAEMON_URL: daemon.url, COLUMNS: '80', LINES: '10' }
    const terminal = await openTerminal(t, ['channels', 'follow', 'garden'], size)
    for (let n = 0; n < 5; n += 1) {
      await daemon.request('PUT', channel, { title: `Garden ${n}` })
      await untilShown(terminal, new RegExp(`^garden {2}Garden ${n} [^]*\\n… \\d+ more lines$`, 'u'))
    }
    t.is(occurrences(terminal.screen(), /^garden {2}/gmu), 1, terminal.screen())
  },
)

test.serial(
  'floor-23: who waits for a person comes first, and turns stand in the order in which they were granted',
  async (t) => {
    const daemon = await startMany(t)
    const leases = await daemon.leases()
    const runs = leases.toSorted((one, other) => (one.turn_id < other.turn_id ? -1 : 1)).map((one) => one.active_run_id)
    t.is(runs.at(-1), daemon.asks)
    t.notDeepEqual(
      leases.map(({ active_run_id }) => active_run_id),
      runs,
    )
    const { out } = await createCommandLine(daemon)('channels', 'follow', 'garden', '--once')
    const shown = [...out.matchAll(/^ {2}in the run (\S+)$/gmu)].map(([, run]) => run)
    t.deepEqual(shown, [daemon.asks, ...runs.slice(0, 4)])
    t.regex(out, /\n3 more have the floor: holdfast channels leases garden\n/u)
  },
)

test.serial(
  'command-line-36: a daemon that ended behind Ctrl-Z is told once with fg, below what the shell wrote',
  async (t) => {
    if (!hasTmux(t)) return t.pass()
    const daemon = await spawnTestDaemon(t)
    await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden', members: [ann] })
    await handsOf(daemon).post('Hello')
    const person = await openShell(t, ['channels', 'follow', 'garden'], { SERVICE_DAEMON_URL: daemon.url })
    await person.until(/ {2}Hello\ngarden {2}[^]*Nobody has the floor\./u)
    person.press('C-z')
    await person.until(/Stopped[^\n]*\n\$$/u)
    await daemon.kill('SIGKILL')
    // The next look is due.
    await sleep(1_500)
    person.type('fg')
    person.press('Enter')
    const lost = /Stopped[^\n]*\n\$ fg\n[^\n]*follow[^\n]*\nThe daemon does not answer; it is tried again\.$/u
    await person.until(lost)
    await sleep(2_500)
    t.regex(person.screen(), lost)
    await spawnTestDaemon(t, { root: daemon.root, bind: new URL(daemon.url).host })
    const screen = await person.until(
      /fg\n[^\n]*follow[^\n]*\nThe daemon answers again\.\ngarden {2}[^]*has the floor/u,
    )
    t.notRegex(screen, /does not answer/u)
  },
)

test.serial('floor-20: no sentence of the block is folded by a terminal of few columns', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const daemon = await spawnTestDaemon(t)
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'Garden', members: [ann] })
  const size = { SERVICE_DAEMON_URL: daemon.url, COLUMNS: '20' }
  const terminal = await openTerminal(t, ['channels', 'follow', 'garden', '--once'], size)
  t.regex(await terminal.until(/ended 0/u), /^Nobody has the\n {4}floor\.$/mu)
})
