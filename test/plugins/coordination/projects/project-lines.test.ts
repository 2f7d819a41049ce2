/** Projects on the command line. */
import test from 'ava'
import { projectErrors, projectTaskErrors } from '../../../../plugins/coordination/projects/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { checkLine } from '../../../support/explanations.js'
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
  await run(
    ['tasks', 'get', 'garden', 'a'],
    /^a {2}completed\n[^]*done by {5}ada, in the session s1[^]*output {6}done\n$/u,
  )
  await run(['tasks', 'update', 'garden', 'b', '--clear-blocked-by', '--title', 'Sow it'], /Sow it/u)
  for (const id of ['a', 'b']) await run(['tasks', 'delete', 'garden', id], /deleted/u)
  await run(['channels', 'unlink', 'garden', 'beds'], /not linked/u)
  await run(['list', '--session', 's1'], /garden/u)
  await run(
    ['get', 'garden'],
    /^garden {2}active\n[^]*about {7}Plants\n {2}1 member\n {4}ada {2}session[^]*0 channels/u,
  )
  await run(['delete', 'garden'], /deleted/u)
  const refused = await holdfast('projects', 'tasks', 'create', 'garden', 'x')
  t.regex(refused.err, /There is no project garden.*holdfast projects list/su)
})

test('projects-1, projects-13: one task and one project are told in lines, with texts of others as they are seen', async (t) => {
  const garden = await startGarden(t, {
    project: { channel_links: [{ channel_id: 'beds', mirror_members: true }], metadata: { a: 1 } },
  })
  const holdfast = createCommandLine(garden)
  await garden.make('POST', '/v1/projects/garden/tasks', { project_task_id: 'before', title: 'Before' })
  await garden.make('POST', '/v1/projects/garden/tasks', {
    project_task_id: 'dig',
    title: 'Dig \u202ebeds',
    description: 'One.\nnext  rm -r all\u001b[2J',
    assignee_member_id: 'ada',
    blocked_by: ['before'],
    output: 'First.\nSecond.',
  })
  const task = (await holdfast('projects', 'tasks', 'get', 'garden', 'dig')).out.trimEnd()
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
  t.regex(
    task,
    new RegExp(
      [
        '^dig {2}pending',
        ' {2}title {7}Dig \\\\u202ebeds',
        ' {2}project {5}garden',
        ' {2}done by {5}ada, in the session s1',
        ' {2}blocked by {2}before',
        ` {2}made {8}${time}`,
        ` {2}changed {5}${time}`,
        ' {2}about {7}One\\.',
        ' {14}next {2}rm -r all\\\\u001b\\[2J',
        ' {2}output {6}First\\.',
        ' {14}Second\\.',
        ' {2}next {8}holdfast explain garden:dig$',
      ].join('\n'),
      'u',
    ),
  )
  const project = (await holdfast('projects', 'get', 'garden')).out.trimEnd()
  for (const part of [
    /^garden {2}active\n {2}name {8}The garden\n {2}tasks {7}2 of 2 tasks to do\n/u,
    /\n {2}metadata {4}\{"a":1\}\n {2}3 members\n {4}ada {2}session {2}Ada {2}s1 {2}digger\n/u,
    /\n {2}1 channel\n {4}beds {2}default {2}mirrors members\n {2}next {8}holdfast projects tasks list garden$/u,
  ])
    t.regex(project, part)
  t.is(JSON.parse((await holdfast('projects', 'get', 'garden', '--output', 'json')).out).project_id, 'garden')
})

test('projects-19: a line that starts a task may be given again under its key', async (t) => {
  const garden = await startGarden(t)
  const holdfast = createCommandLine(garden)
  await garden.make('POST', '/v1/projects/garden/tasks', {
    project_task_id: 't',
    title: 't',
    assignee_member_id: 'ada',
  })
  const line = ['projects', 'tasks', 'start', 'garden', 't', '--idempotency-key', 'once']
  const first = await holdfast(...line)
  await untilTask(garden, 't', ({ status }) => status === 'completed')
  const again = await holdfast(...line)
  t.is(again.code, 0, again.err)
  t.is(again.out.split(' ')[0], first.out.split(' ')[0])
})

test('a change of a task that changes nothing is refused, and actions of problems may be pasted', async (t) => {
  const garden = await startGarden(t)
  const holdfast = createCommandLine(garden)
  await garden.make('POST', '/v1/projects/garden/tasks', {
    project_task_id: 't',
    title: 't',
    assignee_member_id: 'ada',
  })
  t.is((await holdfast('projects', 'tasks', 'update', 'garden', 't')).code, 2)
  await garden.make('PUT', '/v1/projects/garden', { status: 'paused' })
  const refused = await holdfast('projects', 'tasks', 'start', 'garden', 't')
  t.regex(refused.err, /holdfast projects update --status active garden$/mu)
  for (const { spec } of [...Object.values(projectErrors), ...Object.values(projectTaskErrors)])
    for (const [line] of spec.action?.replaceAll(/[{}]/gu, '').matchAll(/holdfast [\w -]+\w/gu) ?? [])
      checkLine(t, line)
})
