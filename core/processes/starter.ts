/** The daemon's side of the starter: orders, what became of them, and its end. */
import { spawn, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import { unsafeCast } from '../base/schema.js'
import type { Log } from '../base/text/log.js'
import { within } from '../base/within.js'
import type { Program, ProgramEnd, ProgramWish } from './contract.js'
import { absentProgram, runningProgram } from './program.js'
import { openSlots, type Slots } from './slots.js'
import { starterProgram } from './starter-program.js'

export interface StarterParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}

export interface Starter {
  /** Undefined if it is gone: nothing was begun. */
  start(wish: ProgramWish): Promise<Program> | undefined
  /** It is gone, and so is what it had started. */
  readonly gone: Promise<void>
  close(): Promise<void>
}

type Reply =
  | { readonly id: number; readonly pid: number; readonly started: string; readonly slots: readonly number[] }
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly code: number | null; readonly signal: string | null }

/** An order under way. */
interface Order {
  readonly began: (program: Program) => void
  readonly end: (end: ProgramEnd) => void
  readonly ended: Promise<ProgramEnd>
  readonly cancel: () => void
  program?: Program
}

/** One that does not answer for so long never will. */
const patienceMs = 30_000
/** A thread less for collecting garbage that it does not make. */
const flags = ['--v8-pool-size=0']

const spawnStarter = ({ address, token }: Slots): ChildProcess =>
  spawn(process.execPath, [...flags, '--eval', starterProgram], {
    env: { STARTER_ADDRESS: address, STARTER_TOKEN: token },
    // Of its own session: what a terminal sends to the daemon's group is for the daemon to hear.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })

/** Undefined if there is none in time; then nothing of it is left. */
const reachControl = async (child: ChildProcess, slots: Slots, clock: Clock): Promise<Socket | undefined> => {
  const failed = new Promise<undefined>((resolve) => {
    child.on('error', () => resolve(undefined))
    child.once('exit', () => resolve(undefined))
  })
  const reached = Promise.race([slots.control, failed])
  const control = (await within(clock, patienceMs, reached)) ? await reached : undefined
  if (control === undefined) child.kill('SIGKILL')
  return control
}

const onLines = (socket: Socket, take: (line: string) => void): void => {
  let carry = ''
  socket.setEncoding('utf8').on('data', (text) => {
    const lines = (carry + String(text)).split('\n')
    carry = lines.pop() ?? ''
    lines.forEach(take)
  })
}

interface Desk {
  readonly orders: Map<number, Order>
  readonly slots: Slots
}

const begun = ({ slots }: Desk, { ended }: Order, reply: Extract<Reply, { pid: number }>): Program => {
  const [stdout = new Socket(), stderr = new Socket(), input] = reply.slots.map((slot) => slots.take(slot))
  // Nothing comes from it but its end.
  input?.resume()
  return runningProgram({ pid: reply.pid, started: reply.started, input, stdout, stderr, ended })
}

const hear = (desk: Desk, reply: Reply): void => {
  const order = desk.orders.get(reply.id)
  if (order === undefined) return
  order.cancel()
  if ('pid' in reply) {
    order.program = begun(desk, order, reply)
    return order.began(order.program)
  }
  desk.orders.delete(reply.id)
  if ('error' in reply) order.began(absentProgram({ type: 'refused', reason: reply.error }))
  else order.end({ type: 'ended', code: reply.code, signal: reply.signal })
}

/** Their ends are known to nobody: they are killed, and told as lost. */
const loseAll = ({ orders }: Desk): void => {
  for (const { cancel, program, began, end } of orders.values()) {
    cancel()
    program?.kill()
    end({ type: 'lost' })
    began(absentProgram({ type: 'lost' }))
  }
  orders.clear()
}

const tend = (
  child: ChildProcess,
  control: Socket,
  { slots, clock, log }: StarterParts & { slots: Slots },
): Starter => {
  const desk: Desk = { orders: new Map(), slots }
  let last = 0
  let closing = false
  // Only what is under way keeps a process from ending.
  child.unref()
  const life = child.stdio[3]
  if (life instanceof Socket) life.on('error', () => {}).unref()
  const left = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const gone = new Promise<void>((resolve) => {
    control.once('close', () => {
      // Whoever waits for the end of descriptor 3 ends now, also what was never told of.
      life?.destroy()
      child.kill('SIGKILL')
      if (!closing) log.warn('the starter of programs was lost', { programs: desk.orders.size })
      loseAll(desk)
      slots.close()
      resolve()
    })
  })
  onLines(control, (line) => {
    hear(desk, unsafeCast<Reply>(JSON.parse(line)))
    if (desk.orders.size === 0) control.unref()
  })
  const order = (id: number): Promise<Program> =>
    new Promise((began) => {
      let end: Order['end'] = () => {}
      const ended = new Promise<ProgramEnd>((resolve) => {
        end = resolve
      })
      const cancel = clock.after(patienceMs, () => control.destroy())
      desk.orders.set(id, { began, end, ended, cancel })
    })
  return {
    gone,
    start(wish) {
      if (control.destroyed) return undefined
      const id = (last += 1)
      control.ref()
      control.write(`${JSON.stringify({ id, ...wish })}\n`)
      return order(id)
    },
    async close() {
      closing = true
      child.ref()
      control.destroy()
      await Promise.all([gone, left])
    },
  }
}

/** Undefined if the system gives none now. */
export const openStarter = async (parts: StarterParts): Promise<Starter | undefined> => {
  const slots = await openSlots(parts)
  try {
    const child = spawnStarter(slots)
    const control = await reachControl(child, slots, parts.clock)
    if (control !== undefined) return tend(child, control, { ...parts, slots })
  } catch (error) {
    parts.log.debug('the starter of programs could not be started', { error })
  }
  slots.close()
  return undefined
}
