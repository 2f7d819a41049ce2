/** The daemon is killed beside each command of git that makes, looks at and removes a worktree. */
import test from 'ava'
import { hasGit } from '../../../support/repositories.js'
import { allCalls, lifeAndDeath, sides } from '../../../support/worktree-kills.js'
import { partOf } from '../../../support/volume.js'

const real = hasGit ? test : test.skip
const calls = allCalls.filter((_, at) => at % partOf(6, 1) === 0)

for (const side of sides) {
  real(`worktrees-13: a kill ${side} a call of git leaves no worktree of a run that changed nothing`, async (t) => {
    for (const call of calls) {
      const { run, killed, folders, known } = await lifeAndDeath(t, '/sleep 1', `${side} ${call}`)
      t.deepEqual([run.status, killed, folders, known], ['completed', true, [], []], `${side} ${call}`)
    }
  })

  real(`worktrees-13: a kill ${side} a call of git loses nothing of a run that wrote something`, async (t) => {
    const content = '/tool write_file {"path":"b.txt","content":"kept"}'
    for (const call of calls.filter((each) => each !== allCalls.at(-1))) {
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
