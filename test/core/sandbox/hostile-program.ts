/** What a file may make the one who reads it do, by the options of the job. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import type { JobProgram } from '../../../core/sandbox/contract.js'

const forever = (): never => {
  for (;;);
}
const reach = (port: number): Promise<string> =>
  new Promise((resolve) => {
    connect(port, '127.0.0.1')
      .on('connect', () => resolve('reached'))
      .on('error', (error) => resolve(String(Reflect.get(error, 'code'))))
  })
const readable = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').slice(0, 10)
  } catch (error) {
    return String(error instanceof Error && Reflect.get(error, 'code'))
  }
}
const writable = (path: string): string => {
  try {
    writeFileSync(path, 'x')
    return 'written'
  } catch (error) {
    return String(error instanceof Error && Reflect.get(error, 'code'))
  }
}
const deeds: Readonly<Record<string, (given: any, bytes: Uint8Array) => unknown>> = {
  echo: (given, bytes) => ({ said: given.say ?? null, length: bytes.length, pid: process.pid }),
  loop: forever,
  wait: () => new Promise(() => setInterval(() => {}, 1000)),
  heap: () => {
    const kept: unknown[] = []
    for (;;) kept.push({ kept: [kept.length] })
  },
  buffers: () => {
    const kept: Buffer[] = []
    for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1))
  },
  abort: () => process.abort(),
  segv: () => process.kill(process.pid, 'SIGSEGV'),
  exit: () => process.exit(0),
  lie: () => {
    writeSync(1, 'no frame at all\n')
    return forever()
  },
  long: () => {
    for (;;) writeSync(1, 'x'.repeat(65_536))
  },
  twice: () => {
    writeSync(1, '{"done":{"said":"first","length":0,"pid":0},"names":[],"lengths":[]}\n')
    return { said: 'second', length: 0, pid: 0 }
  },
  strange: () => ({ nothing: 'of what was agreed' }),
  fork: (given) => {
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', given.mark], { detached: true, stdio: 'ignore' })
    return { said: null, length: 0, pid: process.pid }
  },
  throw: () => {
    throw new TypeError('a secret of ours')
  },
}

export const work: JobProgram = async ({ bytes, options }, refuse) => {
  const given: any = options
  if (given.do === 'refuse') return refuse('it is \u001b[31mred')
  if (given.do === 'look') {
    const said = {
      passwd: readable('/etc/passwd'),
      root: existsSync(given.root) ? readdirSync(given.root) : 'absent',
      home: existsSync('/root') || existsSync('/home'),
      written: writable(`${given.root}/made`),
      temporary: writable('/tmp/made'),
      network: await reach(given.port),
      variables: Object.keys(process.env).filter((name) => !/^(PATH|PWD|SHLVL|_|SERVICE_SHELL_TASK_ID)$/u.test(name)),
    }
    return { answer: { said: JSON.stringify(said), length: 0, pid: process.pid } }
  }
  if (given.do === 'files')
    return {
      answer: { said: null, length: 0, pid: 0 },
      files: { big: new Uint8Array(given.size).fill(7), small: bytes },
    }
  const answer: any = await deeds[given.do]?.(given, bytes)
  return { answer }
}
