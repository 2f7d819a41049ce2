import { defineRoute, doc, jsonReply, object, string, type Route } from '../../../core/plugin.js'
import { LeaseView, SubjectView } from './contract.js'
import { leaseErrors } from './errors.js'
import type { LeaseService } from './leases.js'

const base = '/v1/runtime/auth'
const ofSubject = object({ subject_id: doc(string({ min: 1, max: 500 }), 'Id of the subject.') })
const ofLease = object({ lease_id: doc(string({ min: 1, max: 200 }), 'Id of the lease.') })

export const leaseRoutes = (leases: LeaseService): readonly Route[] => [
  defineRoute({
    id: 'auth.subject',
    method: 'GET',
    path: `${base}/subjects/:subject_id`,
    summary: 'Who has leases: the epoch of a subject, and its leases that are active.',
    access: 'admin',
    params: ofSubject,
    reply: jsonReply(SubjectView),
    problems: [leaseErrors.subject_not_found],
    handler: (input) => leases.subject(input.params.subject_id),
  }),
  defineRoute({
    id: 'auth.revoke_subject',
    method: 'POST',
    path: `${base}/subjects/:subject_id/revoke`,
    summary: 'Ends all leases of a subject, which gets no other until it is set up anew.',
    access: 'admin',
    params: ofSubject,
    reply: jsonReply(SubjectView),
    problems: [leaseErrors.subject_not_found],
    durability: 'A',
    handler: (input) => leases.revokeSubject(input.params.subject_id),
  }),
  defineRoute({
    id: 'auth.lease',
    method: 'GET',
    path: `${base}/leases/:lease_id`,
    summary: 'A lease: whose it is, what for and until when; never its token.',
    access: 'admin',
    params: ofLease,
    reply: jsonReply(LeaseView),
    problems: [leaseErrors.lease_not_found],
    handler: (input) => leases.get(input.params.lease_id),
  }),
  defineRoute({
    id: 'auth.revoke_lease',
    method: 'POST',
    path: `${base}/leases/:lease_id/revoke`,
    summary: 'Ends a lease.',
    access: 'admin',
    params: ofLease,
    reply: jsonReply(LeaseView),
    problems: [leaseErrors.lease_not_found],
    durability: 'A',
    handler: (input) => leases.revoke(input.params.lease_id),
  }),
]
