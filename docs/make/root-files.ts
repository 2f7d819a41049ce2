/** Every kind of file of a state root: whose it is, what it is, and how to read it. */
export interface RootFile {
  /** As people write it; `…` stands for a number, `<…>` for a name. */
  readonly name: string
  /** Matches paths inside the root. */
  readonly path: RegExp
  readonly sentence: string
  readonly writer: 'daemon' | 'people'
  /** A command that reads a file of this kind, run inside the root. */
  readonly read?: (path: string) => string
}

const behindHeader =
  (filter: string) =>
  (path: string): string =>
    `tail -n +2 ${path} | jq -c '${filter}'`

export const rootFiles: readonly RootFile[] = [
  {
    name: 'root.json',
    path: /^root\.json$/u,
    writer: 'daemon',
    sentence: 'What this root is: format version, root id, and how often it was opened.',
    read: (path) => `jq '{format, root_id, generation}' ${path}`,
  },
  {
    name: 'manifest.json',
    path: /^manifest\.json$/u,
    writer: 'daemon',
    sentence: 'Which files count, and how many bytes of each. Replacing it is the commit point of a checkpoint.',
    read: (path) => `jq '{sequence, segments, collections: (.collections | keys)}' ${path}`,
  },
  {
    name: 'watermark.json',
    path: /^watermark\.json$/u,
    writer: 'daemon',
    sentence: 'The last sequence known to be durable, and whether the last stop was clean.',
    read: (path) => `jq '{sequence, clean}' ${path}`,
  },
  {
    name: 'ballast',
    path: /^ballast$/u,
    writer: 'daemon',
    sentence: 'One mebibyte that is given back to close in order on a full disk. Made again at every start.',
  },
  {
    name: 'daemon.lock',
    path: /^daemon\.lock$/u,
    writer: 'daemon',
    sentence: 'What the kernel locks while a daemon holds the root. It may stay behind and then means nothing.',
  },
  {
    name: 'owner.json',
    path: /^owner\.json$/u,
    writer: 'daemon',
    sentence: 'Who holds the root: process, host, generation. For people and for the next start.',
    read: (path) => `jq . ${path}`,
  },
  {
    name: 'lock/',
    path: /^lock\//u,
    writer: 'daemon',
    sentence: 'The portable lock, where the kernel has none to offer.',
  },
  {
    name: 'log/….ndjson',
    path: /^log\/\d+\.ndjson$/u,
    writer: 'daemon',
    sentence: 'A segment of the commit log: one commit a line, behind a header.',
    read: behindHeader('{s, t, ops: [.ops[][0:3]]}'),
  },
  {
    name: 'data/<collection>/page-….ndjson',
    path: /^data\/\w+\/page-\d+\.ndjson$/u,
    writer: 'daemon',
    sentence: 'Checkpointed records; of several lines with one id the last one counts.',
    read: behindHeader('.r'),
  },
  {
    name: 'data/<collection>/index-….ndjson',
    path: /^data\/\w+\/index-\d+\.ndjson$/u,
    writer: 'daemon',
    sentence:
      'A table: where records stand, and the places of settled ones in each declared index. Made again from the pages.',
    read: behindHeader('.rows[]?'),
  },
  {
    name: 'streams/<stream>/page-….ndjson',
    path: /^streams\/\w+\/page-\d+\.ndjson$/u,
    writer: 'daemon',
    sentence: 'Checkpointed entries of all owners of a stream.',
    read: behindHeader('{owner, from, entries: [.entries[]]}'),
  },
  {
    name: 'streams/<stream>/index-….ndjson',
    path: /^streams\/\w+\/index-\d+\.ndjson$/u,
    writer: 'daemon',
    sentence: 'Which lines hold whose entries.',
    read: behindHeader('.rows[]?'),
  },
  {
    name: 'tombstones/<collection>.ndjson',
    path: /^tombstones\/\w+\.ndjson$/u,
    writer: 'daemon',
    sentence: 'Ids that are never used again, each with its reason.',
    read: behindHeader('{id, reason}'),
  },
  {
    name: 'documents/<name>.json',
    path: /^documents\/[\w-]+\.json$/u,
    writer: 'daemon',
    sentence: 'A small file that is replaced whole.',
    read: (path) => `jq 'del(.sha256)' ${path}`,
  },
  {
    name: 'blobs/<area>/<2 hex>/<sha256>',
    path: /^blobs\/\w+\/[0-9a-f]{2}\/[0-9a-f]{64}$/u,
    writer: 'daemon',
    sentence: 'Bytes, named by their SHA-256 and verified on every read.',
    read: (path) => `cat ${path}`,
  },
  {
    name: 'spools/<area>/<32 hex>.spool',
    path: /^spools\/\w+\/[0-9a-f]{32}\.spool$/u,
    writer: 'daemon',
    sentence:
      'Output of a command that runs in the background: a sealed line that says what rotations took away, then ' +
      'the newest bytes as they came.',
    read: (path) => `tail -n +2 ${path}`,
  },
  {
    name: 'quarantine/',
    path: /^quarantine\//u,
    writer: 'daemon',
    sentence: 'What recovery set aside: the bytes, and beside them a `.json` with the reason.',
  },
  {
    name: 'config/plugins.toml',
    path: /^config\/plugins\.toml$/u,
    writer: 'people',
    sentence: 'The third-party plugins that are loaded; no others are.',
  },
  {
    name: 'config/<plugin>.toml',
    path: /^config\/[a-z-]+\.toml$/u,
    writer: 'people',
    sentence: 'Settings of one plugin; an unknown key stops its start.',
    read: (path) => `cat ${path}`,
  },
  {
    name: 'plugins/<folder>/',
    path: /^plugins\//u,
    writer: 'people',
    sentence: 'Code of third-party plugins, loaded only when `config/plugins.toml` names it.',
  },
  {
    name: 'secrets/slots.key',
    path: /^secrets\/slots\.key(?:\.next)?$/u,
    writer: 'daemon',
    sentence:
      'The key that secrets are encrypted with, where the operator gave none: 32 bytes in hex, mode 0600. Not in ' +
      'backups: keep a copy elsewhere. With `.next` behind it, the one that is about to take its place.',
  },
  {
    name: 'secrets/<name>',
    path: /^secrets\//u,
    writer: 'people',
    sentence: 'One secret a file, mode 0600: never in logs, events, errors or exports.',
  },
  {
    name: 'worktrees/<worktree>/',
    path: /^worktrees\//u,
    writer: 'people',
    sentence: 'Git worktrees in which runs work: no part of the state, and in no backup.',
  },
  { name: 'README.md', path: /^README\.md$/u, writer: 'people', sentence: 'A comment file, if somebody leaves one.' },
]

/** What the records and entries of each collection and stream are. */
export const contents: Readonly<Record<string, string>> = {
  agent_audit: 'what became of agents, in rings',
  observation_audit: 'what happened to sources and uploads, in rings',
  observation_sources: 'what machines send observations as: settings, counts, and digests of tokens',
  observations: 'what machines saw and heard, and which files are of it',
  channels: 'public conversations of sessions and people',
  channel_members: 'who is in which channel',
  channel_messages: 'what was said in channels',
  channel_reactions: 'emojis on messages of channels',
  channel_assets: 'which channels and messages name which assets',
  turn_leases: 'who has the floor in which thread of a channel',
  channel_stimuli: 'what somebody would say in a channel by itself, and what became of it',
  channel_thread_work: 'what is worked on in threads of channels',
  channel_work_bindings: 'schedules and agents that work for a thread of a channel',
  channel_calls: 'messages of channels of which it is not decided yet who answers them',
  channel_removals: 'channels that are gone, while what they held is removed',
  personas: 'personas',
  souls: 'what models are told of personas, each text once, by its digest',
  default_skills: 'skills that sessions were bound with, with their instructions, each list once, by its digest',
  sessions: 'sessions',
  usage_days: 'what model calls used on each day, by route; of a day that is open its sessions tell',
  usage_sessions: 'what model calls of each session used on each day, by route',
  runs: 'runs',
  assets:
    'each stored file, with the digests of its bytes in `blobs/assets`, and the graves of those that were deleted',
  asset_sources: 'which assets were made of which others',
  asset_totals: 'how many assets there are, and the bytes of their files',
  debug_runs: 'what evidence is kept of each run, with the digests of its bytes in `blobs/debug`',
  external_actions: 'what was done outside, by session: each entry carries the hash of the one before it',
  external_action_heads: 'where the ledger of each session ends',
  external_action_runs: 'where the actions of each run stand in the ledger',
  derivations: 'what was derived of assets and of what runs were told, or why it failed',
  boards: 'surfaces that people and agents draw on',
  board_revisions: 'what each board was like, revision by revision',
  board_assets: 'which revisions of boards name which assets',
  capture_agents: 'machines that send what they see and hear, with the digest of the token of each',
  capture_leases: 'what lets each of them upload, with the digests of tokens',
  capture_provisions: 'batches in which they were provisioned',
  run_files: 'which runs were given which assets',
  output_files: 'which outputs of runs have which assets',
  worktrees: 'git worktrees of runs: in use, kept, and such as are being made or removed',
  receipts: 'idempotency keys that were used, each with its run',
  session_bindings: 'keys that lead to a session, by their digest',
  run_memories: 'ended runs by session, short and redacted',
  run_memory_marks: 'up to where runs have been remembered',
  auth_leases: 'leases that are active or were revoked, without their tokens',
  auth_subjects: 'subjects that an operator revoked, with their epochs',
  secret_slots: 'secrets, encrypted with a key that is not in the commit log, the pages or a backup',
  lasting_keys: 'keys that headers of reply targets are encrypted with, each encrypted with the key of secrets',
  grants: 'approvals that are remembered, until they expire or are revoked',
  hook_calls: 'calls of hooks that are in the ledger and not over',
  mcp_calls: 'calls of MCP tools by operators that are in the ledger and not over',
  mcp_oauth_marks: 'refreshes of accounts that are under way or were refused, without tokens',
  model_holds: 'until when servers of models want no calls, five minutes at most',
  session_permissions: 'permission rules that hooks gave to sessions',
  session_skills: 'skills that the run of each session used last',
  hook_dead_letters: 'calls of hooks that failed for good, until there are too many',
  runtime_revisions: 'the settings that operators changed, as they are and were',
  agents: 'what is known of agents that other agents started',
  mailbox_messages: 'messages that agents have not read yet, and for a day the ids of those that they have',
  mailbox_files: 'which of those messages name which assets',
  clarifications: 'questions of agents to the ones that started them, until they are settled',
  projects: 'projects: what people and agents work on together',
  project_members: 'who is in each project',
  project_links: 'channels that each project links',
  project_tasks: 'what is to be done in each project, and what came of it',
  session_goals: 'what each session works towards by itself, with what it has used',
  learning_candidates: 'what may be learned, and what was decided about it',
  learning_captures: 'ended runs about which a model is still asked what they teach',
  learnings: 'what was learned, with what became of it',
  promoted_skills: 'skills that were made of what was learned, and how far their rollout is',
  promoted_skill_history: 'what each promoted skill was before, the newest of it',
  playbooks: 'playbooks: what became of each of their versions',
  flows: 'work by playbooks, each with how it ended',
  playbook_manifests: 'what the versions of playbooks say, as it was given',
  schedules: 'schedules, each with its executions that are not over; one that is over with all that are kept',
  schedule_files: 'which schedules have which assets',
  schedule_histories: 'of each schedule that is not over the last executions that are',
  thread_starts: 'where the conversations begin that became too long for a model',
  todos: 'to-do lists by session',
  tasks: 'tasks of sessions, deleted ones included',
  session_control_states: 'sessions that plan or planned, with their plan',
  session_journal: 'the journal of each session: messages, steps, run events, outputs',
  connectors: 'ways from outside into sessions and back, as requests set them up',
  connector_events: 'messages that wait for their files, or for room, each until its run begins',
  telegram_cursors: 'how far each bot that is asked for updates has been heard',
  delivery_progress: 'what deliveries of several steps have done, until they are settled',
  live_drafts: 'messages that show an answer while it is made, until they are the answer',
  live_asks: 'messages with buttons, until what they ask is decided',
  deliveries: 'outputs on their way to reply targets, and what became of each',
  delivery_files: 'which deliveries have which assets',
  delivery_payloads: 'what deliveries carry, by session',
  control_plane_refusals: 'requests that were refused, like ones of one minute counted together',
  control_plane_auth: 'requests that were refused for their token or origin',
}

/** Behind the sentence of its kind, what is in this very file. */
export const sentenceOf = ({ sentence }: RootFile, path: string): string => {
  const of = contents[path.split('/')[1] ?? '']
  return of === undefined ? sentence : `${sentence} Here: ${of}.`
}

export const kindOf = (path: string): RootFile | undefined => rootFiles.find((kind) => kind.path.test(path))
