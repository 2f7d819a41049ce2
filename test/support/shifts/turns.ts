/**
 * Test files that share a process: modules are loaded, and code is made fast, once for all of them. Each file has its
 * turn when the one before it is over, so that no test meets those of another file. What files do before and after
 * their tests is done before the first turn and after the last one.
 */
import test, { type ExecutionContext } from 'ava'
import { fault } from '../../../core/base/assert.js'

type Body = (t: ExecutionContext<any>, ...args: unknown[]) => unknown
interface Declared {
  readonly title: string
  readonly isSerial: boolean
  readonly body: Body
  readonly args: readonly unknown[]
}
interface File {
  readonly name: string
  readonly tests: Declared[]
}

const files: File[] = []

const hooks: (() => void)[] = []
/** ava begins soon after the first declaration: all of them are made when every file is loaded. */
const later =
  <A extends unknown[]>(declare: (...args: A) => void) =>
  (...args: A): void => {
    hooks.push(() => declare(...args))
  }
const surroundings = {
  before: later(test.before),
  after: Object.assign(later(test.after), { always: later(test.after.always) }),
}

const skip =
  (name: string) =>
  (title: string, body: Body): void =>
    test.skip(`${name} › ${title}`, body)

/** What stands for the export of ava in one test file: what is declared waits for its turn. */
export const testsOf = (name: string) => {
  const file: File = { name, tests: [] }
  files.push(file)
  const declare =
    (isSerial: boolean) =>
    (title: string, body: Body, ...args: unknown[]): void => {
      file.tests.push({ title, isSerial, body, args })
    }
  const serial = Object.assign(declare(true), surroundings)
  return Object.assign(declare(false), { ...surroundings, serial, skip: later(skip(name)) })
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

/** Declares a test that begins when it may, and tells when it is over, with all that it tears down. */
const runWhen = (mayBegin: Promise<void>, title: string, { body, args }: Declared): Promise<void> => {
  const over = createGate()
  test(title, async (t) => {
    // What is registered first is torn down last.
    t.teardown(over.open)
    await mayBegin
    await body(t, ...args)
  })
  return over.opened
}

/** As ava does: one after the other what is serial, then all the others at once. */
const runFile = ({ name, tests }: File, turn: Promise<void>): Promise<void> => {
  if (tests.length === 0) throw fault(`no test stands in ${name}`)
  let mayBegin = turn
  for (const one of tests.filter(({ isSerial }) => isSerial))
    mayBegin = runWhen(mayBegin, `${name} › ${one.title}`, one)
  const others = tests.filter(({ isSerial }) => !isSerial)
  return Promise.all([mayBegin, ...others.map((one) => runWhen(mayBegin, `${name} › ${one.title}`, one))]).then(
    () => {},
  )
}

/** Declares the tests of all files that were imported, file after file. */
export const runInTurns = (): void => {
  for (const hook of hooks) hook()
  // Timers of the daemon's clock keep no process: a test that waits for one alone would be the last.
  const awake = setInterval(() => {}, 60_000)
  let turn = Promise.resolve()
  for (const file of files) turn = runFile(file, turn)
  void turn.finally(() => clearInterval(awake))
}
