/** All of what the short suite takes a sample of. */
import './killed-runs.test.js'
