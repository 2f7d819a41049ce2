/** The daemon is killed beside commands of git that make, look at and remove a worktree. */
import test from 'ava'
import { hasGit } from '../../../support/repositories.js'
import { lifeAndDeath, sides } from '../../../support/worktree-kills.js'

const real = hasGit ? test : test.skip
/** Of each life one call; kills.long.test.ts has all of them. */
const calls = { nothing: [5], something: [8] }

for (const side of sides) {
  real(`worktrees-13: a kill ${side} a call of git leaves no worktree of a run that changed nothing`, async (t) => {
    for (const call of calls.nothing) {
      const { run, killed, folders, known } = await lifeAndDeath(t, '/sleep 1', `${side} ${call}`)
      t.deepEqual([run.status, killed, folders, known], ['completed', true, [], []], `${side} ${call}`)
    }
  })

  real(`worktrees-13: a kill ${side} a call of git loses nothing of a run that wrote something`, async (t) => {
    const content = '/tool write_file {"path":"b.txt","content":"kept"}'
    for (const call of calls.something) {
      const { run, killed, folders, known, kept } = await lifeAndDeath(t, content, `${side} ${call}`)
      t.deepEqual(
        [run.status, killed, run.worktree?.state, kept],
        ['completed', true, 'kept', 'kept'],
        `${side} ${call}`,
      )
      t.deepEqual([folders.length, known], [1, [run.worktree.path]])
    }
  })
}
