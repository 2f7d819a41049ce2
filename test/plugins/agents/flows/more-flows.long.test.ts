/** All of what the short suite takes a sample of. */
import './more-flows.test.js'
