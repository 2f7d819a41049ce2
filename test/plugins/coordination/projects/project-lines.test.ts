/** Projects on the command line. */
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { openSession } from '../../../support/runs.js'
import { startGarden, untilTask } from './garden.js'

test('projects-1, projects-9, projects-19: a project is made, filled and worked on by commands', async (t) => {
  const garden = await startGarden(t, { project: null })
  const holdfast = createCommandLine(garden)
  const run = async (line: readonly string[], out: RegExp): Promise<void> => {
    const ran = await holdfast('projects', ...line)
    t.is(ran.code, 0, ran.err)
    t.regex(ran.out, out, line.join(' '))
  }
  await openSession(garden, 's1')
  await garden.make('POST', '/v1/channels', { channel_id: 'beds', title: 'Beds' })
  await run(['list'], /No projects yet/u)
  await run(['create', '--name', 'The garden', '--id', 'garden'], /^garden {2}active/u)
  await run(['update', 'garden', '--description', 'Plants'], /^garden/u)
  await run(
    ['members', 'put', 'garden', 'ada', 'Ada', '--session', 's1', '--tag', 'x', '--tag', 'y'],
    /ada {2}session/u,
  )
  await run(['members', 'put', 'garden', 'cleo', 'Cleo'], /cleo {2}human_actor/u)
  await run(['members', 'list', 'garden'], /ada[^]*cleo/u)
  await run(['members', 'remove', 'garden', 'cleo'], /taken out/u)
  await run(['channels', 'link', 'garden', 'beds', '--mirror'], /beds {2}default {2}mirrors members/u)
  await run(['channels', 'list', 'garden'], /beds/u)
  await run(['list'], /garden.* {2}1 member {2}1 channel {2}0 of 0 tasks to do/u)
  await run(['tasks', 'create', 'garden', 'Dig', '--id', 'a', '--assignee', 'ada'], /^a {2}pending {6}Dig {2}ada/u)
  await run(['tasks', 'create', 'garden', 'Sow', '--id', 'b', '--blocked-by', 'a'], /^b/u)
  await run(['tasks', 'list', 'garden', '--status', 'pending'], /a[^]*b/u)
  await run(['tasks', 'start', 'garden', 'a', '--kickoff', 'Go'], /^run_/u)
  await untilTask(garden, 'a', ({ status }) => status === 'completed')
  await run(['tasks', 'get', 'garden', 'a'], /"output": "done"/u)
  await run(['tasks', 'update', 'garden', 'b', '--clear-blocked-by', '--title', 'Sow it'], /Sow it/u)
  for (const id of ['a', 'b']) await run(['tasks', 'delete', 'garden', id], /deleted/u)
  await run(['channels', 'unlink', 'garden', 'beds'], /not linked/u)
  await run(['list', '--session', 's1'], /garden/u)
  await run(['get', 'garden'], /"description": "Plants"/u)
  await run(['delete', 'garden'], /deleted/u)
  const refused = await holdfast('projects', 'tasks', 'create', 'garden', 'x')
  t.regex(refused.err, /There is no project garden.*holdfast projects list/su)
})
