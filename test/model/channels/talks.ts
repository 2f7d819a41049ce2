/**
 * Random talk in channels of one daemon, against a model of who speaks. The model was written from the texts of the
 * contract alone, so that both are wrong together only where the texts are.
 */
import { rmSync } from 'node:fs'
import type { ExecutionContext } from 'ava'
import { createRandom } from '../../faults/random.js'
import { answers, nextMove, openPlay } from './moves.js'
import { agree, openStage, type Stage } from './stage.js'
import { turnsOf } from './talk.js'

export interface Talks {
  readonly seed: number
  readonly count: number
  /** No talk begins after so many ms. */
  readonly withinMs?: number
}

const movesOf = 24
/** Talks of one daemon: another one begins with an empty root. */
const perDaemon = 100
const restartEvery = 20

/** One talk, from an empty channel to silence. */
const playOne = async (stage: Stage, seed: number): Promise<number> => {
  const random = createRandom(seed)
  const play = await openPlay(stage, `t${seed}`, random)
  const done = [`speakers, budget, cooldown: ${Object.values(play.model.policy).join()}`]
  for (const [name, { mode, muted }] of play.model.members) done.push(`${name} is ${mode}${muted ? ', muted' : ''}`)
  const note = (told: string | undefined): void => void (told === undefined || done.push(told))
  try {
    for (let n = 0; n < movesOf; n += 1) {
      note(await nextMove(random, seed % restartEvery === 0)(play, random))
      await agree(play, { runs: n % 4 === 0 })
    }
    while (turnsOf(play.model).length > 0) {
      note(await answers(play, random))
      await agree(play, { runs: false })
    }
    await agree(play, { runs: true })
  } catch (error) {
    throw new Error(`MODEL_SEED=${seed}\n  ${done.join('\n  ')}\n${String(error)}`)
  }
  return play.model.messages.filter(({ author }) => author !== undefined).length
}

export const playTalks = async (t: ExecutionContext, { seed, count, withinMs = Infinity }: Talks): Promise<void> => {
  const until = performance.now() + withinMs
  const failures: string[] = []
  let [played, said] = [0, 0]
  while (played < count && performance.now() < until) {
    const stage = await openStage(t)
    try {
      for (let n = 0; n < perDaemon && played < count && performance.now() < until; n += 1) {
        said += await playOne(stage, seed + played)
        played += 1
      }
    } catch (error) {
      failures.push(String(error))
      played += 1
    }
    await stage.close()
    rmSync(stage.root, { recursive: true, force: true })
    if (failures.length >= Number(process.env['MODEL_FAILURES'] ?? 1)) break
  }
  t.log(`${played} talks from seed ${seed} on, in which agents said ${said} messages`)
  t.deepEqual(failures, [], failures.join('\n\n'))
  t.true(said > played / 2)
}
