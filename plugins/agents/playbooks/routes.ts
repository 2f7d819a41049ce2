import {
  array,
  boolean,
  collectionSource,
  defaulted,
  defineRoute,
  doc,
  enums,
  filteredSource,
  holdsText,
  jsonObject,
  jsonReply,
  listPage,
  named,
  notBlank,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  searchText,
  string,
  type Route,
} from '../../../core/plugin.js'
import { checkManifest, type Known, type ManifestNote } from './check.js'
import { playbookErrors } from './errors.js'
import { PlaybookVersion } from './manifest.js'
import { EvidenceRef, publishedStatuses, releaseStatuses, type PlaybookRecord } from './record.js'
import type { Releases } from './releases.js'
import type { PlaybookStore } from './store.js'
import { PlaybookView, viewOf, viewWith } from './views.js'

export interface PlaybookRouteParts {
  readonly store: PlaybookStore
  readonly releases: Releases
  readonly known: Known
}

/** Bytes of a request, which bounds what a manifest holds. */
const bodyLimit = 262_144
const path = '/v1/playbooks'
const params = object({ playbook_id: string({ min: 1, max: 200 }) })
const example = {
  manifest: {
    playbook_id: 'release-notes',
    version: '1',
    title: 'Release notes',
    objective: 'Notes that a reader of the product understands.',
    phases: [{ phase_id: 'write', objective: 'Write them.', acceptance_criteria: ['Every change is in a sentence.'] }],
    acceptance_criteria: ['Somebody else has read them.'],
  },
}
const mostEvidence = 20

export const playbookRoutes = (parts: PlaybookRouteParts): readonly Route[] => [
  list(parts),
  validate(parts),
  create(parts),
  read(parts),
  publish(parts),
  revoke(parts),
]

interface Filter {
  readonly text: string
  readonly status: string | undefined
}

const passes =
  ({ text, status }: Filter) =>
  ({ playbook_id, title, objective, versions }: PlaybookRecord): boolean =>
    (text === '' || holdsText(text, [playbook_id, title, objective, ...versions.map(({ digest }) => digest)])) &&
    (status === undefined || versions.some((version) => version.status === status))

const list = ({ store }: PlaybookRouteParts): Route =>
  defineRoute({
    id: 'playbooks.list',
    method: 'GET',
    path,
    summary: 'Lists playbooks by id.',
    access: 'read',
    query: object({
      query: optional(
        doc(string({ max: 200 }), 'Only those whose id, title, objective or a digest of theirs holds this text.'),
      ),
      status: optional(doc(enums(releaseStatuses), 'Only those with a version in this status.')),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(PlaybookView)),
    problems: [...pageProblems],
    handler: async ({ query: { query, status, ...page } }) => {
      const source = collectionSource(store.playbooks, 'all', 'all')
      const filter = { text: searchText(query), status }
      const isOpen = filter.text === '' && status === undefined
      return listPage({
        query: page,
        source: isOpen ? source : await filteredSource(source, passes(filter), store.skip),
        label: 'playbook_id_asc',
        view: viewOf,
        skip: store.skip,
      })
    },
  })

const Verdict = named(
  'PlaybookValidation',
  object({
    valid: boolean(),
    digest: optional(doc(string(), 'That the version would have.')),
    errors: optional(doc(array(string()), 'A path, a colon and a rule.')),
    warnings: optional(doc(array(string()), 'What is unwise, in the same form.')),
  }),
)
const told = (notes: readonly ManifestNote[]): string[] => notes.map(({ path: place, rule }) => `${place}: ${rule}`)

const validate = ({ known }: PlaybookRouteParts): Route =>
  defineRoute({
    id: 'playbooks.validate',
    method: 'POST',
    path: `${path}/validate`,
    summary: 'Says what is wrong with a manifest, and what is unwise; changes nothing.',
    access: 'admin',
    body: object({ manifest: jsonObject() }),
    bodyLimit,
    reply: jsonReply(Verdict),
    durability: 'C',
    example: { body: example },
    handler: ({ body: { manifest } }) => {
      const verdict = checkManifest(manifest, known)
      return {
        valid: verdict.valid,
        ...(verdict.valid ? { digest: verdict.digest } : { errors: told(verdict.errors) }),
        ...(verdict.warnings.length > 0 && { warnings: told(verdict.warnings) }),
      }
    },
  })

const create = ({ store, releases }: PlaybookRouteParts): Route =>
  defineRoute({
    id: 'playbooks.create',
    method: 'POST',
    path,
    summary: 'Keeps a manifest as a version of its playbook, as a draft; the same one again changes nothing.',
    access: 'admin',
    body: object({ manifest: jsonObject() }),
    bodyLimit,
    reply: jsonReply(PlaybookView, 201),
    problems: [
      playbookErrors.playbook_manifest_invalid,
      playbookErrors.playbook_version_conflict,
      playbookErrors.playbook_full,
    ],
    durability: 'A',
    example: { body: example },
    handler: async ({ body: { manifest } }) => {
      const playbook = await releases.create(manifest)
      const { version } = manifest
      return viewWith(store, playbook, typeof version === 'string' ? version : undefined)
    },
  })

const read = ({ store }: PlaybookRouteParts): Route =>
  defineRoute({
    id: 'playbooks.get',
    method: 'GET',
    path: `${path}/:playbook_id`,
    summary: 'Reads a playbook, with the manifest of one version.',
    access: 'read',
    params,
    query: object({
      version: optional(doc(PlaybookVersion, 'Whose manifest; of the active or the newest version when absent.')),
    }),
    reply: jsonReply(PlaybookView),
    problems: [playbookErrors.playbook_not_found, playbookErrors.playbook_version_not_found],
    handler: ({ params: { playbook_id }, query: { version } }) => viewWith(store, store.get(playbook_id), version),
  })

const namedFields = { version: PlaybookVersion, digest: string({ min: 1, max: 200 }) }
const versionProblems = [
  playbookErrors.playbook_not_found,
  playbookErrors.playbook_version_not_found,
  playbookErrors.playbook_digest_mismatch,
  playbookErrors.playbook_full,
]
const evidenceExample = [{ kind: 'review', id: 'https://example.org/reviews/7' }]

const publish = ({ store, releases }: PlaybookRouteParts): Route =>
  defineRoute({
    id: 'playbooks.publish',
    method: 'POST',
    path: `${path}/:playbook_id/publish`,
    summary: 'Lets flows be started of a version, and says how far it is trusted.',
    access: 'admin',
    params,
    body: object({
      ...namedFields,
      status: defaulted(enums(publishedStatuses), 'active'),
      evidence_refs: doc(array(EvidenceRef, { min: 1, max: mostEvidence }), 'What shows that it may be.'),
    }),
    bodyLimit,
    reply: jsonReply(PlaybookView),
    problems: [...versionProblems, playbookErrors.playbook_revoked],
    durability: 'A',
    example: { body: { version: '1', digest: 'aa…', status: 'active', evidence_refs: evidenceExample } },
    handler: async ({ params: { playbook_id }, body }) =>
      viewWith(store, await releases.publish(playbook_id, body), body.version),
  })

const revoke = ({ store, releases }: PlaybookRouteParts): Route =>
  defineRoute({
    id: 'playbooks.revoke',
    method: 'POST',
    path: `${path}/:playbook_id/revoke`,
    summary: 'Lets no flow be started of a version any more; those that were started go on.',
    access: 'admin',
    params,
    body: object({
      ...namedFields,
      reason: string({ min: 1, max: 4_000, pattern: notBlank }),
      evidence_refs: defaulted(array(EvidenceRef, { max: mostEvidence }), []),
    }),
    bodyLimit,
    reply: jsonReply(PlaybookView),
    problems: versionProblems,
    durability: 'A',
    example: { body: { version: '1', digest: 'aa…', reason: 'It leaves a step out.', evidence_refs: evidenceExample } },
    handler: async ({ params: { playbook_id }, body }) =>
      viewWith(store, await releases.revoke(playbook_id, body), body.version),
  })
