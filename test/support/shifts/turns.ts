/**
 * Test files that share a process: modules are loaded, and code is made fast, once for all of them. Each file has its
 * turn when the one before it is over, so that no test meets those of another file. What a file begins before its tests
 * it ends after them; what it only ends may be shared with others, and is ended after the last turn.
 */
import test, { type ExecutionContext } from 'ava'
import { fault } from '../../../core/base/assert.js'
import { createClock } from '../../../core/base/clock.js'
import { within } from '../../../core/base/within.js'
import { noteCost, spent } from './costs.js'

type Body = (t: ExecutionContext<any>, ...args: unknown[]) => unknown
interface Declared {
  readonly title: string
  readonly isSerial: boolean
  readonly body: Body
  readonly args: readonly unknown[]
}
type Hook = (t: ExecutionContext<any>) => unknown
type Hooked = readonly [Hook] | readonly [string, Hook]
interface File {
  readonly name: string
  readonly tests: Declared[]
  readonly before: Declared[]
  readonly after: Declared[]
  /** Tests that lack what judges them. */
  skipped: number
}

const files: File[] = []

const skipped: (() => void)[] = []

/** ava begins soon after the first declaration: all of them are made when every file is loaded. */
const skip =
  (file: File) =>
  (title: string, body: Body): void => {
    file.skipped += 1
    skipped.push(() => test.skip(`${file.name} › ${title}`, body))
  }

/** ava has the hooks of all files run before the first turn and after the last one, but for what is a test. */
const asTest = (when: string, others: readonly Declared[], hooked: Hooked): Declared => {
  const [title, hook] = hooked.length === 2 ? hooked : [`${when}, ${others.length + 1}`, ...hooked]
  const body = async (t: ExecutionContext): Promise<void> => {
    await hook(t)
    t.pass()
  }
  return { title, isSerial: true, body, args: [] }
}

/** What stands for the export of ava in one test file: what is declared waits for its turn. */
export const testsOf = (name: string) => {
  const file: File = { name, tests: [], before: [], after: [], skipped: 0 }
  files.push(file)
  const declare =
    (isSerial: boolean) =>
    (title: string, body: Body, ...args: unknown[]): void => {
      file.tests.push({ title, isSerial, body, args })
    }
  const before = (...hooked: Hooked): void => void file.before.push(asTest('before its tests', file.before, hooked))
  const after = (...hooked: Hooked): void => void file.after.push(asTest('after its tests', file.after, hooked))
  const surroundings = { before, after: Object.assign(after, { always: after }) }
  const serial = Object.assign(declare(true), surroundings)
  return Object.assign(declare(false), { ...surroundings, serial, skip: skip(file) })
}

interface Gate {
  readonly opened: Promise<void>
  open(): void
}
const createGate = (): Gate => {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** What waits for that which never comes fails by its name, and the files behind it have their turn. */
const longestMinutes = Number(process.env['HOLDFAST_TEST_MINUTES'] ?? 8)
const clock = createClock()
/** Tests that were given up: what they began may go on and keep the process. */
let givenUp = 0
/** Milliseconds in which ava tells what the last test came to. */
const tellingMs = 5_000

/** Declares a test that begins when it may, and tells when it is over, with all that it tears down. */
const runWhen = (mayBegin: Promise<void>, title: string, { body, args }: Declared): Promise<void> => {
  const over = createGate()
  test(title, async (t) => {
    // What is registered first is torn down last.
    t.teardown(over.open)
    await mayBegin
    if (!(await within(clock, longestMinutes * 60_000, Promise.resolve(body(t, ...args))))) {
      givenUp += 1
      throw fault(`it did not end within ${longestMinutes} minutes`)
    }
  })
  return over.opened
}

/** As ava does: one after the other what is serial, then all the others at once. */
const runFile = ({ name, tests, before, after, skipped: left }: File, turn: Promise<void>): Promise<void> => {
  if (tests.length === 0 && left > 0) return turn
  if (tests.length === 0) throw fault(`no test stands in ${name}`)
  let mayBegin = turn
  for (const one of [...before, ...tests.filter(({ isSerial }) => isSerial)])
    mayBegin = runWhen(mayBegin, `${name} › ${one.title}`, one)
  const others = tests.filter(({ isSerial }) => !isSerial)
  let over = Promise.all([mayBegin, ...others.map((one) => runWhen(mayBegin, `${name} › ${one.title}`, one))]).then(
    () => {},
  )
  for (const one of after) over = runWhen(over, `${name} › ${one.title}`, one)
  return over
}

/** Declares the tests of all files that were imported, file after file. */
export const runInTurns = (): void => {
  for (const declare of skipped) declare()
  for (const { name, before, after } of files)
    if (before.length === 0)
      for (const { title, body } of after.splice(0)) test.after.always(`${name} › ${title}`, (t) => body(t))
  // Timers of the daemon's clock keep no process: a test that waits for one alone would be the last.
  const awake = setInterval(() => {}, 60_000)
  let turn = Promise.resolve()
  for (const file of files) {
    const begun = turn.then(spent)
    turn = runFile(file, turn)
    void turn.then(async () => noteCost(file.name, await begun))
  }
  void turn.finally(() => {
    clearInterval(awake)
    if (givenUp > 0) setTimeout(() => process.exit(1), tellingMs)
  })
}
