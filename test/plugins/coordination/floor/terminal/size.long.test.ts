/** `channels follow` on a terminal that has another size, or that the shell takes again. */
import test, { type ExecutionContext } from 'ava'
import { callTool, done } from '../../../../../plugins/providers/scripted/contract.js'
import { spawnTestDaemon } from '../../../../support/daemon.js'
import { hasTmux, openShell, openTerminal, type Terminal } from '../../../../support/screen.js'
import { ann, channel, eventually, handsOf, startBots } from '../bots.js'

/** With the counts behind it wider than 50 columns, and less wide than 80. */
const title = 'A garden with a title of forty signs ...'

/** A turn that waits for a person. */
const startAsking = async (t: ExecutionContext) => {
  const daemon = await startBots(t, ['C'], {
    script: async () => [callTool('asked', 'bash', { command: 'ls' }), done('tool_calls')],
  })
  await daemon.request('PUT', channel, { title })
  await daemon.post('List it')
  await eventually(async () => (await daemon.request('GET', '/v1/runs?status=waiting_for_approval')).body, hasOne)
  return daemon
}
const hasOne = ({ length }: any[]): boolean => length === 1

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Looks now and then: the daemon is in this process, which stands still while it looks. */
const untilShown = async (terminal: Terminal, wanted: RegExp): Promise<void> => {
  for (let n = 0; n < 600; n += 1) {
    if (wanted.test(terminal.shown())) return
    await sleep(200)
  }
  throw new Error(`${String(wanted)} is not shown: ${terminal.screen()}`)
}
const occurrences = (text: string, part: RegExp): number => [...text.matchAll(part)].length

/** How the screen ends with what is drawn for this many columns: it joins what only the terminal folds. */
const ends = {
  80: /\ngarden {2}[^\n]* {2}\d messages?\nC has the floor[^\n]*\n {2}since[^\n]*\n… \d+ more lines$/u,
  50: /"ls"\}, and\n… \d+ more lines$/u,
  20: /\nC waits for a person\n… \d+ more lines$/u,
}
type Size = readonly [keyof typeof ends, number]
const resize = (terminal: Terminal, [columns, rows]: Size): Promise<void> => {
  terminal.resize(columns, rows)
  return untilShown(terminal, ends[columns])
}

const [large, small, smallest]: readonly [Size, Size, Size] = [
  [80, 20],
  [50, 12],
  [20, 6],
]
for (const [way, said] of [
  [[small], ''],
  [[small], 'Meanwhile'],
  [[smallest], ''],
  [[smallest], 'Meanwhile'],
] as const)
  test.serial(
    `command-line-24: ${way.join(' ')} and back leaves one drawing: ${said || 'nothing'} is said`,
    async (t) => {
      if (!hasTmux(t)) return t.pass()
      const daemon = await startAsking(t)
      const size = { SERVICE_DAEMON_URL: daemon.url, COLUMNS: '80', LINES: '20' }
      const terminal = await openTerminal(t, ['channels', 'follow', 'garden'], size)
      /** A session calls nobody: what is drawn changes with the message alone. */
      const say = async (text: string): Promise<void> => {
        await daemon.post(text, { sender_session_id: 'C' })
        await untilShown(terminal, new RegExp(`^ {2}${text}$`, 'mu'))
      }
      await untilShown(terminal, ends[80])
      for (const one of way) await resize(terminal, one)
      if (said !== '') await say(said)
      await resize(terminal, large)
      await say('And this')
      const all = terminal.screen()
      for (const one of [
        'C waits .*',
        ' .*approvals allow.*',
        'garden  .*',
        '.* more lines',
        '  List it',
        '  And this',
      ])
        t.is(occurrences(all, new RegExp(`^${one}$`, 'gmu')), 1, `${one}: ${all}`)
      t.is(occurrences(all, /^ {2}Meanwhile$/gmu), said === '' ? 0 : 1, all)
    },
  )

const startQuiet = async (t: ExecutionContext) => {
  const daemon = await spawnTestDaemon(t)
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title, members: [ann] })
  const { post } = handsOf(daemon)
  await post('Hello')
  return Object.assign(daemon, { post })
}

for (const [columns, line] of [
  [100, String.raw`garden {2}${title.replaceAll('.', String.raw`\.`)} {2}1 member {2}1 message`],
  [30, 'garden {2}A garden with a title\n {4}of forty signs \\.\\.\\.[^]*'],
] as const)
  test.serial(`command-line-36: fg draws for the ${columns} columns that a stopped terminal was given`, async (t) => {
    if (!hasTmux(t)) return t.pass()
    const daemon = await startQuiet(t)
    const size = { SERVICE_DAEMON_URL: daemon.url, COLUMNS: '50', LINES: '30' }
    const person = await openShell(t, ['channels', 'follow', 'garden'], size)
    await person.until(/ {2}Hello\ngarden {2}[^]*\nNobody has the floor\./u)
    person.press('C-z')
    await person.until(/Stopped[^\n]*\n\$$/u)
    person.resize(columns, 30)
    person.type('until stty size | grep " COLUMNS$"; do sleep 0.1; done'.replace('COLUMNS', String(columns)))
    person.press('Enter')
    await person.until(new RegExp(`^30 ${columns}\n\\$$`, 'mu'))
    person.type('fg')
    person.press('Enter')
    await person.until(new RegExp(`\\$ fg\n[^\n]*follow[^\n]*\n${line}\nNobody has the floor\\.`, 'u'))
    await daemon.post('Good morning')
    const screen = await person.until(/ {2}Good morning\ngarden {2}[^]*\nNobody has the floor\./u)
    t.is(occurrences(screen.slice(screen.indexOf('$ fg')), /^garden {2}/gmu), 1, screen)
  })

test.serial('command-line-36: behind Ctrl-C the prompt of the shell has a line of its own', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const daemon = await startQuiet(t)
  const person = await openShell(t, ['channels', 'follow', 'garden'], { SERVICE_DAEMON_URL: daemon.url })
  await person.until(/\nNobody has the floor\./u)
  person.press('C-c')
  t.regex(await person.until(/\^C\s*\$$/u), /\n\^C\n\$$/u)
})
