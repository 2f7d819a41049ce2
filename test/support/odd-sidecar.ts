/**
 * A sidecar that keeps to a plan, most of them bad ones: `node odd-sidecar.js '{"notes":"…"}'`. It writes what it does
 * into a file of notes, a line each.
 */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

export interface SidecarPlan {
  readonly notes: string
  /** It writes this on its standard error and ends with this code. */
  readonly dies?: { readonly says: string; readonly code: number }
  /** It listens and never answers. */
  readonly hangs?: true
  /** It ends, and leaves a program in a session of its own behind, which listens in its place. */
  readonly forks?: true
  /** It has a child beside it, or one in a session of its own. */
  readonly hasChild?: true | 'apart'
  readonly ignoresTerm?: true
  /** What it answers for these. */
  readonly manifest?: object
  readonly health?: object
  /** Bytes of its manifest. */
  readonly bytes?: number
  /** Bytes that it writes on standard error, and on standard output. */
  readonly floods?: number
}

const plan = JSON.parse(process.argv[2] ?? '{}') as SidecarPlan
const note = (line: string): void => appendFileSync(plan.notes, `${line}\n`)
const variables = (name: string): string => process.env[`SERVICE_EXTERNAL_CONNECTOR_${name}`] ?? ''

/** What it was given, but for values that are secret. */
const seen = (): string => JSON.stringify(Object.keys(process.env).toSorted())

const answers = (path: string): object => {
  const facts = { protocol_version: 1, instance_id: `instance-${process.pid}` }
  if (path === '/manifest') return { ...facts, ...plan.manifest, ...(plan.bytes && { more: 'x'.repeat(plan.bytes) }) }
  return path === '/health' ? { ...facts, status: 'ready', ...plan.health } : { status: 'committed' }
}

const listen = (): void => {
  const { port, hostname } = new URL(variables('BASE_URL'))
  createServer((request, response) => {
    note(`${request.method} ${request.url} ${request.headers.authorization === `Bearer ${variables('SHARED_TOKEN')}`}`)
    if (plan.hangs !== true) response.writeHead(200).end(JSON.stringify(answers(request.url ?? '')))
  }).listen(Number(port), hostname)
}

const child = (more: object, detached: boolean): void => {
  const args = [process.argv[1] ?? '', JSON.stringify({ notes: plan.notes, ...more })]
  spawn(process.execPath, args, { detached, stdio: 'ignore' }).unref()
}

note(`pid ${process.pid}`)
note(`in ${process.cwd()} with ${seen()}`)
if (plan.floods !== undefined) {
  for (let left = plan.floods; left > 0; left -= 65_536) process.stderr.write('f'.repeat(65_536))
  for (let left = plan.floods; left > 0; left -= 65_536) process.stdout.write('f'.repeat(65_536))
}
if (plan.dies !== undefined) {
  process.stderr.write(plan.dies.says)
  process.exitCode = plan.dies.code
} else if (plan.forks === true) child({ hasChild: true }, true)
else {
  if (plan.hasChild !== undefined) child({ ignoresTerm: true, hangs: true, manifest: {} }, plan.hasChild === 'apart')
  process.on('SIGTERM', () => {
    note(`SIGTERM ${process.pid}`)
    if (plan.ignoresTerm !== true) process.exit(0)
  })
  if (plan.ignoresTerm === true && plan.hangs === true && plan.manifest !== undefined) setInterval(() => {}, 1_000_000)
  else listen()
}
