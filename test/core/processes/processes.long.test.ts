import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { connect } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import type { Processes, Program } from '../../../core/processes/contract.js'
import { startDirectly } from '../../../core/processes/direct.js'
import { startTicks } from '../../../core/state/root/owner.js'
import { processesFor } from '../../support/processes.js'

const linux = process.platform === 'linux' ? test : test.skip
const PATH = process.env['PATH'] ?? ''
const sh = (command: string) => ({ file: '/bin/sh', args: ['-c', command], folder: '/', environment: { PATH } })
const eventually = async (holds: () => boolean): Promise<boolean> => {
  for (let n = 0; n < 500; n += 1) {
    if (holds()) return true
    await setTimeout(20)
  }
  return false
}
const parentOf = (pid: number | undefined): number =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /su, '')
      .split(' ')[1],
  )
const isThere = (pid: number | undefined): boolean => pid !== undefined && startTicks(pid) !== ''
/** Starts a program that stays, and says who started it. */
const starterOf = async (processes: Processes): Promise<{ starter: number; program: Program }> => {
  const program = await processes.start(sh('read -r _ <&3'))
  return { starter: parentOf(program.pid), program }
}

const ways = {
  'by the starter': (t: Parameters<typeof processesFor>[0]): Processes => processesFor(t),
  'by the daemon itself': (): Processes => ({ start: startDirectly }),
}
for (const [how, make] of Object.entries(ways)) {
  test(`a program started ${how} answers with code, signal and both outputs, and sees its environment alone`, async (t) => {
    const processes = make(t)
    const program = await processes.start({
      file: 'sh',
      args: ['-c', 'pwd; echo "$A"; env | wc -l; echo err >&2; exit 3'],
      folder: '/usr',
      environment: { PATH, A: 'ü "quoted"\nand $more' },
    })
    t.deepEqual(await Promise.all([text(program.stdout), text(program.stderr)]), [
      '/usr\nü "quoted"\nand $more\n4\n',
      'err\n',
    ])
    t.deepEqual(await program.ended, { type: 'ended', code: 3, signal: null })
    await program.closed
    const killed = await processes.start(sh('kill -SEGV $$'))
    killed.letGo()
    t.deepEqual(await killed.ended, { type: 'ended', code: null, signal: 'SIGSEGV' })
  })

  test(`a program started ${how} leads a session of its own, has nothing to read and no descriptor that is not its own`, async (t) => {
    const program = await make(t).start(sh('cat; ls /proc/self/fd; cut -d" " -f1,5,6 /proc/$$/stat'))
    const [descriptors, ids] = (await text(program.stdout)).split(/\n(?=\d+ )/u)
    // The fourth is the line of life, the fifth the folder that ls reads. High ones may come from who started the tests.
    t.deepEqual(
      descriptors
        ?.split('\n')
        .filter((each) => Number(each) < 200)
        .toSorted(),
      ['0', '1', '2', '3', '4'],
    )
    t.is(ids?.trim(), `${program.pid} ${program.pid} ${program.pid}`)
    program.letGo()
  })

  test(`a program started ${how} reads what is written to it, line by line, and the end of it`, async (t) => {
    const program = await make(t).start({ ...sh('read -r a; echo "got $a"; cat | wc -c'), input: true })
    program.input?.write('first\n')
    const [first] = await once(program.stdout, 'data')
    t.is(String(first), 'got first\n')
    program.input?.end('x'.repeat(1_000_000))
    t.is((await text(program.stdout)).trim(), '1000000')
    t.deepEqual(await program.ended, { type: 'ended', code: 0, signal: null })
    program.letGo()
  })

  test(`input for a program started ${how} that does not read it harms nobody`, async (t) => {
    const program = await make(t).start({ ...sh('exec <&-; echo deaf'), input: true })
    program.input?.end('x'.repeat(1_000_000))
    t.is(await text(program.stdout), 'deaf\n')
    t.deepEqual(await program.ended, { type: 'ended', code: 0, signal: null })
    program.letGo()
    await program.closed
  })

  test(`what cannot be started ${how} is refused with the system's reason`, async (t) => {
    const processes = make(t)
    const reasons = []
    for (const wish of [
      { ...sh(''), file: '/nowhere' },
      { ...sh(''), file: '/usr' },
      { ...sh(''), folder: '/nowhere' },
      { ...sh(''), environment: { LONG: 'x'.repeat(3_000_000) } },
      sh('a\0b'),
    ]) {
      const program = await processes.start(wish)
      t.is(program.pid, undefined)
      await program.closed
      reasons.push(await program.ended)
    }
    t.deepEqual(
      reasons,
      ['ENOENT', 'EACCES', 'ENOENT', 'E2BIG', 'ERR_INVALID_ARG_VALUE'].map((reason) => ({ type: 'refused', reason })),
    )
  })

  test(`a program started ${how} is killed with its group, and let go while others hold its output`, async (t) => {
    const program = await make(t).start(sh('sleep 300 & setsid sleep 1 & echo on; wait'))
    await new Promise((resolve) => program.stdout.once('data', resolve))
    program.kill()
    t.deepEqual(await program.ended, { type: 'ended', code: null, signal: 'SIGKILL' })
    program.letGo()
    await program.closed
  })
}

linux('programs that are started at once each have their own outputs, however many', async (t) => {
  const processes = processesFor(t)
  const outputs = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const program = await processes.start(sh(`echo ${n}; echo err ${n} >&2`))
      return Promise.all([text(program.stdout), text(program.stderr)])
    }),
  )
  t.deepEqual(
    outputs,
    outputs.map((__, n) => [`${n}\n`, `err ${n}\n`]),
  )
})

linux(
  'when the starter is killed its programs are killed and told as lost, and the next one is started anew',
  async (t) => {
    const processes = processesFor(t)
    const { starter, program } = await starterOf(processes)
    const deaf = await processes.start(sh('exec 3<&-; exec sleep 300'))
    t.is(parentOf(deaf.pid), starter)
    process.kill(starter, 'SIGKILL')
    for (const lost of [program, deaf]) {
      t.deepEqual(await lost.ended, { type: 'lost' })
      lost.letGo()
      await lost.closed
      t.true(await eventually(() => !isThere(lost.pid)))
    }
    t.deepEqual(processes.warnings, ['the starter of programs was lost'])
    const next = await starterOf(processes)
    t.not(next.starter, starter)
    t.not(next.starter, process.pid)
    next.program.kill()
    next.program.letGo()
  },
)

linux('a starter that is killed while programs are being started loses none in silence', async (t) => {
  const processes = processesFor(t)
  for (let round = 0; round < 8; round += 1) {
    const { starter, program } = await starterOf(processes)
    const orders = Array.from({ length: 12 }, () => processes.start(sh('read -r _ <&3; exit 7')))
    if (round % 2 === 0) await orders[round]
    process.kill(starter, 'SIGKILL')
    for (const each of [program, ...(await Promise.all(orders))]) {
      t.deepEqual(await each.ended, { type: 'lost' })
      each.letGo()
    }
  }
  t.pass()
})

linux(
  'a starter that does not answer to signals of a terminal ends with the service, and takes its programs along',
  async (t) => {
    const processes = processesFor(t)
    const { starter, program } = await starterOf(processes)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(starter, signal)
    const again = await starterOf(processes)
    t.is(again.starter, starter)
    await processes.close()
    t.false(isThere(starter))
    for (const each of [program, again.program]) {
      t.true(await eventually(() => !isThere(each.pid)))
      each.letGo()
    }
    t.deepEqual(processes.warnings, [])
  },
)

const moduleOf = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href)
const owner = `
const { createProcesses } = await import(${moduleOf('core/processes/processes.js')})
const { createClock } = await import(${moduleOf('core/base/clock.js')})
const { createIds } = await import(${moduleOf('core/base/ids.js')})
const processes = createProcesses({ ids: createIds(createClock()), log: { debug() {}, warn() {} } })
const deaf = await processes.start({ file: '/bin/sleep', args: ['300'], folder: '/', environment: {} })
console.log(deaf.pid)
setInterval(() => {}, 1000)
`
linux('when the daemon is killed, the starter and what it started are gone', async (t) => {
  const daemon = spawn(process.execPath, ['--input-type=module', '-e', owner], { stdio: ['ignore', 'pipe', 'inherit'] })
  const pid = Number(await new Promise((resolve) => daemon.stdout.once('data', resolve)))
  const starter = parentOf(pid)
  t.true(isThere(pid) && starter !== daemon.pid)
  const address = addressOf(starter)
  t.true(existsSync(address))
  daemon.kill('SIGKILL')
  t.true(await eventually(() => !isThere(pid) && !isThere(starter)))
  t.false(existsSync(dirname(address)), 'nor is a folder of it left')
})

const addressOf = (starter: number): string =>
  /STARTER_ADDRESS=([^\0]+)/u.exec(readFileSync(`/proc/${starter}/environ`, 'latin1'))?.[1] ?? ''

linux('no other user reaches the socket of the starter, and it goes with the service', async (t) => {
  const processes = processesFor(t)
  const { program, starter } = await starterOf(processes)
  const address = addressOf(starter)
  t.true(statSync(address).isSocket(), 'a file, no name that everybody can connect to')
  t.is(statSync(dirname(address)).mode & 0o077, 0)
  program.kill()
  program.letGo()
  await processes.close()
  t.false(existsSync(dirname(address)))
})

linux('whoever does not know the token is turned away and gets no output', async (t) => {
  const processes = processesFor(t)
  const { program, starter } = await starterOf(processes)
  const socket = connect(addressOf(starter))
  socket.write(`${'0'.repeat(32)}${'0'.padStart(16)}`)
  const heard = await text(socket).catch(() => '')
  t.is(heard, '')
  t.true(isThere(program.pid))
  program.kill()
  program.letGo()
})

linux('a service that starts nothing has no starter', async (t) => {
  const children = (): number =>
    readdirSync('/proc/self/task').reduce(
      (sum, thread) =>
        sum +
        (existsSync(`/proc/self/task/${thread}/children`)
          ? readFileSync(`/proc/self/task/${thread}/children`, 'latin1').split(' ').length - 1
          : 0),
      0,
    )
  const before = children()
  const processes = processesFor(t)
  await processes.close()
  t.is(children(), before)
})
