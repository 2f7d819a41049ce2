/** A server under measurement: a process of its own, with its memory and its start-up time. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Server {
  readonly url: string
  readonly child: ChildProcess
  readonly startMs: number
  resident(): number
  /** Milliseconds of CPU time so far, user and system, all threads. */ cpu(): number
  stop(): Promise<void>
}

const waitFor = (url: string, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const deadline = performance.now() + 60_000
    const attempt = (): void => {
      fetch(`${url}${path}`).then(
        (answer) => answer.body?.cancel().then(() => (answer.ok ? resolve() : again())),
        again,
      )
    }
    const again = (): void => {
      if (performance.now() > deadline) reject(new Error(`${url} does not answer`))
      else setTimeout(attempt, 2)
    }
    attempt()
  })

/** The fields behind the program's name begin with the third; 14 and 15 are user and system time in ticks of 10 ms. */
const cpuOf = (stat: string): number => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Starts a program that prints its address on its first line that has one. */
export const startServer = async (args: readonly string[]): Promise<Server> => {
  const begin = performance.now()
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /http:\/\/[\w.:]+/u.exec(line)?.[0]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} exited with ${code}`)))
  })
  await waitFor(url, '/healthz')
  return {
    url,
    child,
    startMs: performance.now() - begin,
    resident: () => Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    cpu: () => cpuOf(readFileSync(`/proc/${child.pid}/stat`, 'utf8')),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

/** Bytes below a folder. */
export const bytesBelow = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
