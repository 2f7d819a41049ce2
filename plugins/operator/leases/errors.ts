import { defineErrors } from '../../../core/plugin.js'

export const leaseErrors = defineErrors({
  lease_not_found: {
    status: 404,
    detail: 'There is no lease {lease_id}, or it ended long ago.',
    action: 'See the leases of a subject with GET /v1/runtime/auth/subjects/{subject_id}.',
  },
  subject_not_found: {
    status: 404,
    detail: 'The subject {subject_id} has no lease and was never revoked.',
    action: 'See to it that the id is spelled as the one who asked for the lease spells it.',
  },
  subject_revoked: {
    status: 409,
    detail: 'The subject {subject_id} was revoked and gets no lease.',
    action: 'Set up anew what it belongs to, such as its connector.',
  },
  leases_full: {
    status: 409,
    detail: 'There are {most} leases, and no room for more.',
    action: 'Wait for some to expire, or revoke subjects that ask for too many.',
  },
})
