/** The program of one connector: started, and started again when it ends, until it is no longer wanted. */
import path from 'node:path'
import {
  Problem,
  within,
  type Clock,
  type Exit,
  type Log,
  type Supervised,
  type SupervisedProgram,
} from '../../../../core/plugin.js'
import type { ChildLease } from './credentials.js'
import type { ChildProcess } from '../setup/settings.js'
import { environmentOf } from './environment.js'
import { restartWaitMs } from './pace.js'
import { lookAt, untilReady, type Look, type Looks } from './readiness.js'
import { hearSaid, type Said } from './said.js'

/** What one life of a program begins with. */
export interface ChildWish {
  readonly base_url: string
  readonly child: ChildProcess
  readonly shared_token: string | undefined
  readonly lent: ChildLease | undefined
}

/** Who is told how a program does. */
export interface ChildStates {
  starting(): void
  ready(): void
  /** It works, and something is wrong. */
  degraded(cause: string): void
  /** It does not run, and is started again in so many milliseconds. */
  waiting(cause: string, wait_ms: number): void
  /** It is started once more. */
  restarted(): void
  /** Tells the last of what is wrong once more. */
  again(): void
}

export interface LifeParts {
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  readonly supervised: Supervised
  readonly redact: (text: string) => string
  readonly workspaceRoot: string
  readonly daemonUrl: () => string
  /** Resolves when programs may start, or when the signal aborts. */
  readonly untilMay: (signal: AbortSignal) => Promise<void>
  /** Asks for what its next life begins with. Undefined if the connector is gone. Rejects with a problem. */
  readonly wish: () => Promise<ChildWish | undefined>
  /** Takes back what a life was lent, and what is remembered of it. Never rejects. */
  readonly over: () => Promise<void>
  readonly looks: Looks
  readonly states: ChildStates
}

export interface Child {
  /** It is starting, or waits for its next start. */
  isDown(): boolean
  /** Tells what is wrong with it once more. */
  tellAgain(): void
  /** Ends it with all that it started. */
  end(): Promise<void>
}

/** Between SIGTERM and SIGKILL (external-55). */
export const childGraceMs = 10_000
/** For the rest of what a program wrote that has ended, and between looks at one that runs; milliseconds. */
const [mostHeardMs, lookMs] = [500, 30_000]
/** Looks without an answer behind which it is started again. */
const mostSilent = 4

interface Ending {
  readonly cause: string
  readonly wasReady: boolean
}

const unready = (cause: string): Ending => ({ cause, wasReady: false })

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

const exitText = ({ code, signal, lost }: Exit, said: Said): string => {
  const how = lost
    ? 'nobody could wait for its end'
    : signal === null
      ? `it ended with code ${code}`
      : `${signal} ended it`
  return said.last() === '' ? how : `${how}: ${said.last()}`
}

/** The same for looks of which the same is told. */
const toldOf = (look: Look): string => (look.type === 'ready' ? (look.degraded ?? '') : look.cause)

/** The child begins when the one of this name that was there before is gone. */
export const createChild = (parts: LifeParts, before: Promise<void> = Promise.resolve()): Child => {
  const life = new ChildLife(parts)
  life.begin(before)
  return life
}

/** A class, because it holds a program. */
class ChildLife implements Child {
  readonly #parts: LifeParts
  readonly #ended = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #isUp = false

  constructor(parts: LifeParts) {
    this.#parts = parts
  }

  begin(before: Promise<void>): void {
    this.#running = this.#run(before)
  }

  isDown(): boolean {
    return !this.#isUp
  }

  tellAgain(): void {
    this.#parts.states.again()
  }

  async end(): Promise<void> {
    this.#ended.abort('ended')
    await this.#running
  }

  /** Never rejects. */
  async #run(before: Promise<void>): Promise<void> {
    const { name, clock, log, states, untilMay } = this.#parts
    const { signal } = this.#ended
    states.starting()
    await before
    await untilMay(signal)
    for (let failures = 0; !signal.aborted; failures += 1) {
      const { cause, wasReady } = await this.#live()
      this.#isUp = false
      if (signal.aborted) return
      if (wasReady) failures = 0
      const wait_ms = restartWaitMs(name, failures)
      log.warn('a sidecar is not running', { connector: name, cause, wait_ms: Math.round(wait_ms) })
      states.waiting(cause, wait_ms)
      if (!(await clock.sleep(wait_ms, signal))) return
      states.restarted()
      states.starting()
    }
  }

  /** One life of the program, from its start until nothing is left of it: why it ended. */
  async #live(): Promise<Ending> {
    const { wish, over, log, name } = this.#parts
    try {
      const found = await wish()
      return found === undefined ? unready('its connector is gone') : await this.#start(found)
    } catch (error) {
      if (error instanceof Problem) return unready(error.message)
      log.error('a sidecar could not be started', { connector: name, error })
      return unready('it could not be started')
    } finally {
      await over()
    }
  }

  async #start({ child, ...facts }: ChildWish): Promise<Ending> {
    const { name, supervised, workspaceRoot, daemonUrl, redact } = this.#parts
    if (this.#ended.signal.aborted) return unready('it was ended')
    const folder = path.resolve(workspaceRoot, child.working_dir ?? '.')
    const environment = environmentOf(child, { name, ...facts, daemon_base_url: daemonUrl() }, redact)
    // What it writes on standard output is for nobody: the shell gives it to nobody.
    const run = ['/bin/sh', '-c', 'exec "$@" >/dev/null', 'sh', child.command, ...(child.args ?? [])]
    const program = await supervised.start({ run, folder, environment })
    if (!program.isThere) return unready(`it could not be started in ${folder}: is that folder there?`)
    program.stdout.resume()
    const over = new AbortController()
    try {
      return await this.#watch(program, AbortSignal.any([this.#ended.signal, over.signal]))
    } finally {
      over.abort('over')
      await supervised.stop([program], childGraceMs)
      await program.letGo()
    }
  }

  async #watch(program: SupervisedProgram, signal: AbortSignal): Promise<Ending> {
    const { clock, looks, supervised } = this.#parts
    const said = hearSaid(this.#parts, this.#parts.name, program.stderr)
    const gone = this.#gone(program, said, signal)
    const first = await Promise.race([gone, untilReady(clock, looks, signal)])
    if (typeof first === 'string') return unready(first)
    if (first.type !== 'ready') return unready(first.cause)
    this.#isUp = true
    this.#tell(first)
    // What it started so far is known from now on, also if it forsakes it.
    await supervised.remember([program])
    return { cause: await Promise.race([gone, this.#watchOn(first, signal)]), wasReady: true }
  }

  /** Why it ended, or that it is to end. */
  async #gone(program: SupervisedProgram, said: Said, signal: AbortSignal): Promise<string> {
    const exit = await Promise.race([program.exited, aborted(signal)])
    if (exit === undefined) return 'it was ended'
    await within(this.#parts.clock, mostHeardMs, said.heard)
    return exitText(exit, said)
  }

  /** Looks at it as long as it runs. Resolves with why it is to be started again. */
  async #watchOn(first: Extract<Look, { type: 'ready' }>, signal: AbortSignal): Promise<string> {
    const { name, clock, log, looks } = this.#parts
    let [silences, instance, before] = [0, first.instance_id, toldOf(first)]
    while (await clock.sleep(lookMs, signal)) {
      const look = await lookAt(looks, signal)
      if (signal.aborted) break
      if (look.type === 'ready' && look.instance_id !== instance) {
        instance = look.instance_id
        log.warn('a sidecar says that it is another instance', { connector: name })
      }
      silences = look.type === 'silent' ? silences + 1 : 0
      if (look.type === 'silent' && silences >= mostSilent)
        return `it ran and could not be used for ${(mostSilent * lookMs) / 1000} s: ${look.cause}`
      if (toldOf(look) !== before) this.#tell(look)
      before = toldOf(look)
    }
    return 'it was ended'
  }

  #tell(look: Look): void {
    const { states } = this.#parts
    if (look.type !== 'ready') return states.degraded(look.cause)
    if (look.degraded === undefined) states.ready()
    else states.degraded(`it says that it is ${look.degraded}`)
  }
}
