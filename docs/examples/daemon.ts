/** A daemon process for the examples: started on a free port, killed as a machine that loses power would. */
import { spawn, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

export interface RunningDaemon {
  readonly url: string
  readonly pid: number
  get<T>(path: string): Promise<T>
  post<T>(path: string, body: object): Promise<T>
  /** Frames of an event stream, until the daemon is gone. */
  follow(path: string, see: (event: string, data: Record<string, unknown>) => void): Promise<void>
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

const main = resolve(import.meta.dirname, '../../core/main.js')

const firstUrl = (child: ChildProcess): Promise<string> =>
  new Promise((found, failed) => {
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
      const url = /http:\/\/[\w.:]+/u.exec(line)?.[0]
      if (url !== undefined) found(url)
    })
    child.once('exit', (code) => failed(new Error(`the daemon exited with ${code} before it listened`)))
  })

const call = async <T>(url: string, init: RequestInit): Promise<T> => {
  const answer = await fetch(url, init)
  const body: unknown = await answer.json()
  if (!answer.ok) throw new Error(`${init.method} ${url}: ${JSON.stringify(body)}`)
  return body as T
}

const readFrames = async (url: string, see: (event: string, data: Record<string, unknown>) => void): Promise<void> => {
  const answer = await fetch(url)
  let rest = ''
  for await (const chunk of answer.body ?? []) {
    const frames = (rest + Buffer.from(chunk as Uint8Array).toString()).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const event = /^event: (.*)$/mu.exec(frame)?.[1]
      const data = /^data: (.*)$/mu.exec(frame)?.[1]
      if (event !== undefined && data !== undefined) see(event, JSON.parse(data) as Record<string, unknown>)
    }
  }
}

/** Starts a daemon on this state root; its workspace is a folder beside it. */
export const startDaemon = async (stateRoot: string, workspace: string): Promise<RunningDaemon> => {
  const child = spawn(
    process.execPath,
    [
      main,
      'serve',
      '--bind',
      '127.0.0.1:0',
      '--state-root',
      stateRoot,
      '--workspace-root',
      workspace,
      '--log-level',
      'warn',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const url = await firstUrl(child)
  return {
    url,
    pid: child.pid ?? 0,
    get: (path) => call(url + path, { method: 'GET' }),
    post: (path, body) =>
      call(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    follow: (path, see) => readFrames(url + path, see).catch(() => undefined),
    kill: (signal) =>
      new Promise((gone) => {
        child.once('exit', () => gone())
        child.kill(signal)
      }),
  }
}
