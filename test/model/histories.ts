/**
 * Random histories over everything that a client can do, with deaths in
 * between, against a small pure model. The same histories each time, so
 * that a failure is one of the change.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext, TestFn } from 'ava'
import fc from 'fast-check'
import { freshRoot } from '../support/daemon.js'
import { createWorld } from './model.js'
import { startReceiver } from './receiver.js'
import { compareAll, compareChanged, createShadow } from './shadow.js'
import { scheduleSteps } from './schedule-steps.js'
import { runSteps, type Choice, type WeightedStep } from './steps.js'

export interface Histories {
  readonly seed: number
  readonly count: number
  /** Steps of each history that have anything to do. */
  readonly length: number
}

/** True to look for the shortest history that fails, which takes its time. */
const shrink = process.env['MODEL_SHRINK'] !== undefined
/** Steps by name, each with how often it is chosen. */
const steps: Readonly<Record<string, WeightedStep>> = { ...runSteps, ...scheduleSteps }
/** Steps between two looks at everything. */
const between = 200

interface Planned extends Choice {
  readonly name: string
}

const number = fc.nat({ max: 1_000_000 })
/**
 * More than are needed, because some have nothing to do. A history that is made shorter after a failure may be of any
 * length.
 */
const historyOf = (length: number): fc.Arbitrary<Planned[]> =>
  fc.array(
    fc.record({
      name: fc.oneof(...Object.entries(steps).map(([name, { weight }]) => ({ arbitrary: fc.constant(name), weight }))),
      a: number,
      b: number,
      c: number,
    }),
    { minLength: shrink ? 0 : length * 2, maxLength: length * 2, size: 'max' },
  )

/**
 * Plays a history until it has done its steps; those with nothing to do do not count. Returns what was done, by name.
 */
const play = async (planned: readonly Planned[], length: number): Promise<string[]> => {
  const root = await freshRoot()
  const workspace = await mkdtemp(path.join(tmpdir(), 'holdfast-model-'))
  const receiver = await startReceiver()
  const shadow = await createShadow({ root, workspace, flags: ['--delivery-initial-retry-ms', '5'] })
  const stand = { world: createWorld(), shadow, receiver, keys: new Map() }
  const done: string[] = []
  try {
    for (const { name, ...choice } of planned) {
      if (done.length === length) break
      if ((await steps[name]?.step(stand, choice)) !== true) continue
      done.push(name)
      await compareChanged(shadow, stand.world)
      if (done.length % between === 0) await compareAll(shadow, stand.world, { workspace, receiver })
    }
    await compareAll(shadow, stand.world, { workspace, receiver })
  } catch (error) {
    throw new Error(`after ${done.length} steps, the last of them ${done.slice(-8).join(', ')}: ${String(error)}`)
  } finally {
    await shadow.end()
    await receiver.close()
    await rm(root, { recursive: true, force: true })
    await rm(workspace, { recursive: true, force: true })
  }
  return done
}

/** The fault, and the history only where it was made short. */
const report = ({ failed, errorInstance, counterexample, numShrinks }: fc.RunDetails<[Planned[]]>): void => {
  if (failed)
    throw new Error(
      `${String(errorInstance)}${shrink ? `\nshortest of ${numShrinks}: ${JSON.stringify(counterexample)}` : ''}`,
    )
}

const tally = (done: readonly string[]): string =>
  Object.keys(steps)
    .map((name) => `${done.filter((one) => one === name).length} ${name}`)
    .join(', ')

const playSeed = async (t: ExecutionContext, seed: number, length: number): Promise<void> => {
  t.log(`seed ${seed}`)
  let done: string[] = []
  await fc.assert(
    fc.asyncProperty(historyOf(length), async (planned) => {
      done = await play(planned, length)
    }),
    { seed, numRuns: 1, endOnFailure: !shrink, reporter: report },
  )
  t.log(tally(done))
  t.true(shrink || done.length === length, `${done.length} steps had anything to do`)
}

/** Declares one test for each history. */
export const playHistories = (test: TestFn, { seed, count, length }: Histories): void => {
  for (let n = 0; n < count; n += 1)
    test.serial(`history ${n + 1} of ${count}: after each of ${length} steps the daemon is what the model says`, (t) =>
      playSeed(t, seed + n, length),
    )
}
