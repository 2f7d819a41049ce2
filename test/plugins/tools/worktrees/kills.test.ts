/** The daemon is killed beside commands of git that make, look at and remove a worktree. */
import test from 'ava'
import { hasGit } from '../../../support/repositories.js'
import { lifeAndDeath } from '../../../support/worktree-kills.js'

const real = hasGit ? test : test.skip

// Of each life one side of one call; kills.long.test.ts has both sides of all of them.
real('worktrees-13: a kill before a call of git leaves no worktree of a run that changed nothing', async (t) => {
  const { run, killed, folders, known } = await lifeAndDeath(t, '/sleep 1', 'before 5')
  t.deepEqual([run.status, killed, folders, known], ['completed', true, [], []])
})

real('worktrees-13: a kill behind a call of git loses nothing of a run that wrote something', async (t) => {
  const content = '/tool write_file {"path":"b.txt","content":"kept"}'
  const { run, killed, folders, known, kept } = await lifeAndDeath(t, content, 'behind 8')
  t.deepEqual([run.status, killed, run.worktree?.state, kept], ['completed', true, 'kept', 'kept'])
  t.deepEqual([folders.length, known], [1, [run.worktree.path]])
})
