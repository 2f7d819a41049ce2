/** Projects from the command line. */
import { defineCommand, listedRows, pageFlags, readRows, showRows, type Command } from '../../../core/plugin.js'
import { projectMemberKinds, projectStatuses } from './record/record.js'
import { showWholeProject, WholeProject } from './whole-text.js'
import { taskCommands } from './task-commands.js'
import {
  bodyOf,
  fieldsOf,
  filtered,
  Gone,
  LinkRow,
  MemberRow,
  metadataFlag,
  metadataOf,
  partOf,
  pathOf,
  ProjectRow,
  remove,
  rowsOf,
  showLink,
  showMember,
  showProject,
} from './terminal.js'

const filters = { query: 'query', status: 'status', session: 'member_session_id', channel: 'channel_id' }
const project = { name: 'display_name', description: 'description', status: 'status' }
const projectFlags = {
  description: { kind: 'text', summary: 'What it is about.' },
  status: { kind: 'text', summary: 'Whether it takes new work.' },
  ...metadataFlag,
} as const
const member = { session: 'session_id', agent: 'agent_id', actor: 'actor_id', role: 'role' }
const link = { default: 'default_for_new_tasks', mirror: 'mirror_members', role: 'role' }
const statuses = { status: projectStatuses }

const projectCommands: readonly Command[] = [
  defineCommand({
    path: ['projects', 'list'],
    route: 'GET /v1/projects',
    summary: 'Projects by id.',
    flags: {
      query: { kind: 'text', summary: 'Only those whose id, name or description holds this text.' },
      status: { kind: 'text', summary: 'Only those in this status.' },
      session: { kind: 'text', summary: 'Only those that this session is a member of.' },
      channel: { kind: 'text', summary: 'Only those that link this channel.' },
      ...pageFlags,
    },
    choices: statuses,
    fields: { 'query.member_session_id': '--session', 'query.channel_id': '--channel' },
    run: (input) => readRows(input, filtered(input, '/v1/projects', filters)),
    answer: listedRows(ProjectRow),
    show: showRows(rowsOf(showProject, 'No projects yet. Make one: holdfast projects create --name NAME')),
  }),
  defineCommand({
    path: ['projects', 'get'],
    route: 'GET /v1/projects/{project_id}',
    summary: 'One project, with its members and the channels that it links.',
    args: ['project_id'],
    run: (input) => input.client.get(pathOf(input)),
    answer: WholeProject,
    show: showWholeProject,
  }),
  defineCommand({
    path: ['projects', 'create'],
    route: 'POST /v1/projects',
    summary: 'Makes a project.',
    needs: ['--name'],
    flags: {
      name: { kind: 'text', summary: 'What people call it.' },
      id: { kind: 'text', summary: 'Its id; made by the daemon when absent.' },
      ...projectFlags,
    },
    choices: statuses,
    fields: fieldsOf({ ...project, id: 'project_id' }),
    run: async (input) =>
      input.client.send('POST', '/v1/projects', {
        ...bodyOf(input, { ...project, id: 'project_id' }),
        ...(await metadataOf(input)),
      }),
    answer: ProjectRow,
    show: showProject,
  }),
  defineCommand({
    path: ['projects', 'update'],
    route: 'PUT /v1/projects/{project_id}',
    summary: 'Changes what is named of a project.',
    args: ['project_id'],
    flags: { name: { kind: 'text', summary: 'What people call it.' }, ...projectFlags },
    oneOf: ['--name', '--description', '--status', '--metadata'],
    choices: statuses,
    fields: fieldsOf(project),
    run: async (input) =>
      input.client.send('PUT', pathOf(input), { ...bodyOf(input, project), ...(await metadataOf(input)) }),
    answer: ProjectRow,
    show: showProject,
  }),
  defineCommand({
    path: ['projects', 'delete'],
    route: 'DELETE /v1/projects/{project_id}',
    summary: 'Deletes a project that has no tasks.',
    args: ['project_id'],
    run: remove(pathOf),
    answer: Gone,
    show: () => 'The project is deleted.',
  }),
]

const memberCommands: readonly Command[] = [
  defineCommand({
    path: ['projects', 'members', 'list'],
    route: 'GET /v1/projects/{project_id}/members',
    summary: 'Members of a project by id.',
    args: ['project_id'],
    flags: pageFlags,
    run: (input) => readRows(input, pathOf(input, '/members')),
    answer: listedRows(MemberRow),
    show: showRows(rowsOf(showMember, 'The project has no members.')),
  }),
  defineCommand({
    path: ['projects', 'members', 'put'],
    route: 'POST /v1/projects/{project_id}/members',
    summary: 'Adds a member to a project, or replaces the one of this id: a person, unless it is said otherwise.',
    args: ['project_id', 'member_id', 'display_name'],
    flags: {
      kind: {
        kind: 'text',
        summary: 'Whether it is a person or a session; when absent, what the other flags make it.',
      },
      session: { kind: 'text', summary: 'Of a session: its id; member_id when absent.' },
      agent: { kind: 'text', summary: 'Of a session: the id of its agent, in place of --session.' },
      actor: { kind: 'text', summary: 'Of a person: the id that it writes under; member_id when absent.' },
      role: { kind: 'text', summary: 'What it is there for.' },
      tag: { kind: 'text', several: true, summary: 'What it is good at; may be given again.' },
      ...metadataFlag,
    },
    choices: { kind: projectMemberKinds },
    fields: {
      ...fieldsOf({ ...member, kind: 'member_kind', tag: 'expertise_tags' }),
      'body.member_id': '<member_id>',
      'body.display_name': '<display_name>',
    },
    run: async (input) => {
      const { args, flags } = input
      const tags = input.all('tag')
      const isSession = typeof flags['session'] === 'string' || typeof flags['agent'] === 'string'
      return input.client.send('POST', pathOf(input, '/members'), {
        member_id: args['member_id'] ?? '',
        display_name: args['display_name'] ?? '',
        member_kind: typeof flags['kind'] === 'string' ? flags['kind'] : isSession ? 'session' : 'human_actor',
        ...bodyOf(input, member),
        ...(tags.length > 0 && { expertise_tags: tags }),
        ...(await metadataOf(input)),
      })
    },
    answer: MemberRow,
    show: showMember,
  }),
  defineCommand({
    path: ['projects', 'members', 'remove'],
    route: 'DELETE /v1/projects/{project_id}/members/{member_id}',
    summary: 'Takes a member out of a project.',
    args: ['project_id', 'member_id'],
    run: remove((input) => partOf(input, 'members', 'member_id')),
    answer: Gone,
    show: () => 'The member is taken out.',
  }),
]

const linkCommands: readonly Command[] = [
  defineCommand({
    path: ['projects', 'channels', 'list'],
    route: 'GET /v1/projects/{project_id}/channels',
    summary: 'Channels that a project links.',
    args: ['project_id'],
    flags: pageFlags,
    run: (input) => readRows(input, pathOf(input, '/channels')),
    answer: listedRows(LinkRow),
    show: showRows(rowsOf(showLink, 'The project links no channels.')),
  }),
  defineCommand({
    path: ['projects', 'channels', 'link'],
    route: 'POST /v1/projects/{project_id}/channels',
    summary: 'Links a channel, or replaces what is said of the link.',
    args: ['project_id', 'channel_id'],
    flags: {
      default: { kind: 'switch', summary: 'Threads of tasks are opened there.' },
      mirror: { kind: 'switch', summary: 'The members of the project become members of the channel.' },
      role: { kind: 'text', summary: 'What it is there for.' },
      ...metadataFlag,
    },
    fields: { ...fieldsOf(link), 'body.channel_id': '<channel_id>' },
    run: async (input) =>
      input.client.send('POST', pathOf(input, '/channels'), {
        channel_id: input.args['channel_id'] ?? '',
        ...bodyOf(input, link),
        ...(await metadataOf(input)),
      }),
    answer: LinkRow,
    show: showLink,
  }),
  defineCommand({
    path: ['projects', 'channels', 'unlink'],
    route: 'DELETE /v1/projects/{project_id}/channels/{channel_id}',
    summary: 'Takes the link to a channel away.',
    args: ['project_id', 'channel_id'],
    run: remove((input) => partOf(input, 'channels', 'channel_id')),
    answer: Gone,
    show: () => 'The channel is not linked any more.',
  }),
]

export const commands: readonly Command[] = [...projectCommands, ...memberCommands, ...linkCommands, ...taskCommands]
