import {
  boolean,
  defineRoute,
  doc,
  filteredSource,
  holdsText,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  searchText,
  string,
  type Route,
} from '../../../core/plugin.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import { assetErrors, uploadProblems, type Assets } from '../assets/contract.js'
import { DerivationSubject, DerivationView, TranscriptionOptions } from './contract.js'
import { goneText, isGone, type Derive } from './derive.js'
import { derivationErrors } from './errors.js'
import { viewOf, type DerivationStore, type StoredDerivation } from './store.js'

export interface DerivationRouteParts {
  readonly store: DerivationStore
  readonly assets: Assets
  readonly derive: Derive
}

export const derivationRoutes = (parts: DerivationRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
]

const holds = (record: StoredDerivation, text: string): boolean =>
  holdsText(text, [
    record.derivation_id,
    record.profile,
    ...Object.values(record.subject).map(String),
    record.result_asset_id,
    // An earlier version kept whatever a plugin gave, until a start takes it away.
    String(record.source_fingerprint),
    record.status,
    record.error,
  ])

const list = ({ store }: DerivationRouteParts): Route =>
  defineRoute({
    id: 'derivations.list',
    method: 'GET',
    path: '/v1/derivations',
    summary: 'Lists derivations by id.',
    access: 'read',
    query: object({
      query: optional(
        doc(
          string({ max: 200 }),
          'Only those whose id, profile, subject, result, source fingerprint, status or error holds this text.',
        ),
      ),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(DerivationView)),
    problems: [...pageProblems],
    handler: async ({ query: { query, ...page } }) => {
      const { all, skip } = store
      const text = searchText(query)
      return listPage({
        query: page,
        source: text === '' ? all : await filteredSource(all, (record) => holds(record, text), skip),
        label: 'derivation_id_asc',
        view: viewOf,
        skip,
      })
    },
  })

const create = ({ derive }: DerivationRouteParts): Route =>
  defineRoute({
    id: 'derivations.create',
    method: 'POST',
    path: '/v1/derivations',
    summary: 'Derives something of a subject; what was derived of the same before is answered again.',
    access: 'admin',
    query: object({
      force_refresh: optional(doc(boolean(), 'Derives it anew, whatever is there.')),
      retry_failed: optional(doc(boolean(), 'Derives it anew where it failed.')),
    }),
    body: object({
      profile: doc(string({ min: 1, max: 64 }), 'What is to be made: `canonical_text`, `visual_preview`.'),
      subject: doc(
        DerivationSubject,
        'Of what: `asset` with `asset_id`, `session_input` with `session_id` and `offset`, `observation` with ' +
          '`observation_id`, or what further plugins add.',
      ),
      transcription: optional(
        doc(TranscriptionOptions, 'How speech is written down; of sound as `canonical_text` alone.'),
      ),
    }),
    reply: jsonReply(DerivationView),
    problems: [
      derivationErrors.derivation_invalid,
      derivationErrors.derivation_subject_not_found,
      derivationErrors.derivation_subject_refused,
      derivationErrors.visual_preview_unsupported,
      derivationErrors.session_input_not_found,
      derivationErrors.transcription_unavailable,
      derivationErrors.transcription_audio_invalid,
      derivationErrors.transcription_failed,
      derivationErrors.transcription_silent,
      derivationErrors.transcription_unready,
      assetErrors.asset_not_found,
      assetErrors.asset_integrity_mismatch,
      sessionErrors.session_not_found,
      ...uploadProblems,
    ],
    durability: 'A',
    example: { body: { profile: 'canonical_text', subject: { type: 'asset', asset_id: 'asset_1' } } },
    handler: ({ body, query }) =>
      derive({ ...body, force: query.force_refresh === true, retry: query.retry_failed === true }),
  })

const read = ({ store, assets }: DerivationRouteParts): Route =>
  defineRoute({
    id: 'derivations.get',
    method: 'GET',
    path: '/v1/derivations/:derivation_id',
    summary: 'Reads a derivation.',
    access: 'read',
    params: object({ derivation_id: string({ min: 1, max: 200 }) }),
    reply: jsonReply(DerivationView),
    problems: [derivationErrors.derivation_not_found],
    handler: async ({ params: { derivation_id } }) => {
      const find = (): StoredDerivation => {
        const found = store.derivations.find(derivation_id)
        if (found === undefined) throw derivationErrors.derivation_not_found({ details: { derivation_id } })
        return found
      }
      const found = find()
      if (isGone(assets, found)) await store.state.commit((tx) => store.fail(tx, found, goneText))
      return viewOf(find())
    },
  })
