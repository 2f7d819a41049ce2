/** A channel on the terminal, as it is and while it goes on. */
import test from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import { spawnTestDaemon } from '../../../../support/daemon.js'
import { createLatch } from '../../../../support/latch.js'
import { hasTmux, openPiped, openTerminal } from '../../../../support/screen.js'
import { ann, bot, channel, handsOf, quiet, startBots } from '../bots.js'

const untimed = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'T')
    .replaceAll(/\b(message|channel_message|run|turn|channel_stimulus|stimulus)_0[a-z0-9]+/gu, '$1')

test('floor-20: channels follow shows what is said, who has the floor, who is next, and what waits and why', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B', 'C'], {
    script: async () => {
      await gate.wait()
      return undefined
    },
  })
  const line = createCommandLine(daemon)
  t.is((await line('channels', 'follow', 'garden', '--once')).out.split('\n')[1], 'Nobody has the floor.')
  await daemon.post('Hello\u001b[2J\nNobody has the floor.')
  await gate.reached
  await daemon.request('POST', `${channel}/stimuli`, {
    content: 'Later\u001b[2J\nB has the floor',
    scope: 'channel',
    kind: 'agent_idea',
    available_at_ms: Date.now() + 3_600_000,
  })
  const { out, code } = await line('channels', 'follow', 'garden', '--once')
  t.is(code, 0)
  t.false(out.includes('\u001b'))
  t.regex(
    untimed(out),
    /^T {2}Ann {2}\w+\n {2}Hello\S*\n {2}Nobody has the floor\.\ngarden {2}The garden {2}4 members {2}1 message\nA has the floor, running\n {2}since T, until T\n {2}answers \w+\n {2}in the thread of \w+\n {2}in the run run\n {2}next B, C; 3 messages of agents may still follow\n {2}- /u,
  )
  t.regex(
    untimed(out),
    /\nTo be said when the channel lets it:\n {2}agent_idea until T\n {4}Later\S+B has the floor\n$/u,
  )
  const told = JSON.parse((await line('channels', 'follow', 'garden', '--output', 'json')).out)
  t.deepEqual(
    [told.channel.channel_id, told.leases.length, told.stimuli.length, told.messages.length],
    ['garden', 1, 1, 1],
  )
  gate.open()
  await quiet(daemon)
  await daemon.request('PUT', channel, { paused: true })
  t.regex(
    (await line('channels', 'follow', 'garden', '--once')).out,
    /\nIt is paused: nobody is asked to speak\.\n {2}holdfast channels update --resume garden\nNobody has the floor\.\n/u,
  )
  const gone = await line('channels', 'follow', 'none')
  t.is(gone.code, 1)
  t.regex(gone.err, /channel_not_found/u)
})

test('floor-20, floor-14, channels-24: members beyond the first hundreds are called by their names', async (t) => {
  const gate = createLatch()
  let told = ''
  const bots = ['y', 'z'].map((id) => ({ ...bot(id), display_name: `Bot ${id}` }))
  const daemon = await startBots(t, bots, {
    script: async ({ text }) => {
      told = text
      await gate.wait()
      return undefined
    },
  })
  const filler = (n: number): object => ({ ...ann, member_id: `a${n}`, display_name: 'Somebody' })
  const zoe = { ...ann, member_id: 'zoe', actor_id: 'user-1', display_name: 'Zoe' }
  for (const member of [...Array.from({ length: 260 }, (_, n) => filler(n)), zoe])
    await daemon.request('POST', `${channel}/members`, member)
  await daemon.post('Hello', { sender_actor_id: 'user-1' })
  await gate.reached
  t.regex(told, /^- "Zoe", /mu)
  const line = createCommandLine(daemon)
  const { out } = await line('channels', 'follow', 'garden', '--once')
  t.regex(untimed(out), /^T {2}Zoe {2}\w+\n {2}Hello\n[^]*\nBot y has the floor, running\n[^]*\n {2}next Bot z; /u)
  t.regex((await line('channels', 'messages', 'list', 'garden')).out, /Z {2}Zoe\n {2}Hello\n/u)
  t.regex((await line('channels', 'members', 'get', 'garden', 'user-1')).out, /^zoe {2}Zoe {2}a person, user-1 /u)
  gate.open()
  await quiet(daemon)
})

test('floor-20: each message comes once, however many there are, and over a restart', async (t) => {
  const daemon = await spawnTestDaemon(t)
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden', members: [ann] })
  const { post } = handsOf(daemon)
  await post('first')
  const following = openPiped(t, ['channels', 'follow', 'garden'], { SERVICE_DAEMON_URL: daemon.url })
  await following.until(/ {2}first\n[^]*Nobody has the floor\./u)
  for (let n = 0; n < 130; n += 1) await post(`message ${n} of many`)
  await following.until(/message 129 of many/u)
  await daemon.kill('SIGKILL')
  await following.until(/of many\n[^]*\nThe daemon does not answer; it is tried again\.\n$/u)
  const next = await spawnTestDaemon(t, { root: daemon.root, bind: new URL(daemon.url).host })
  await handsOf(next).post('behind the restart')
  await following.until(/again\.\nThe daemon answers again\.\n[^]* {2}behind the restart\n/u)
  const words = [...following.out().matchAll(/^ {2}(first|message \d+ of many|behind the restart)$/gmu)]
  t.deepEqual(
    words.map(([, word]) => word),
    ['first', ...Array.from({ length: 130 }, (_, n) => `message ${n} of many`), 'behind the restart'],
  )
  following.kill('SIGINT')
  t.is(await following.ended, 130)
  t.is(following.err(), '')
})

test('floor-20: on a terminal no text of others stands where lines of ours begin', async (t) => {
  if (!hasTmux(t)) return t.pass()
  const daemon = await spawnTestDaemon(t)
  await daemon.request('POST', '/v1/channels', { channel_id: 'garden', title: 'The garden', members: [ann] })
  const { post } = handsOf(daemon)
  // The terminal has 90 columns.
  const forged = `hm${' '.repeat(86)}${'FORGED one'.padEnd(90)}${'  FORGED two'.padEnd(90)}FORGED three ${'語'.repeat(60)}`
  await post(forged)
  await daemon.request('POST', `${channel}/stimuli`, {
    content: `hm${' '.repeat(84)}FORGED four`,
    scope: 'channel',
    kind: 'agent_idea',
    available_at_ms: Date.now() + 3_600_000,
  })
  const environment = { SERVICE_DAEMON_URL: daemon.url }
  for (const words of [
    ['channels', 'follow', 'garden', '--once'],
    ['channels', 'messages', 'list', 'garden'],
  ]) {
    const terminal = await openTerminal(t, words, environment)
    const screen = await terminal.until(/ended 0/u)
    t.regex(screen, / {2}FORGED three/u)
    t.notRegex(screen, /^(?:FORGED|語)/mu)
    t.true(screen.split('\n').every((line) => line.length <= 90))
  }
})
