"""A cluster on one machine: `--executor nodes --jobs N` runs each job as a cluster's executor does, in a Snakemake of
its own that knows of no other job, started by a job script.

Snakemake finds it where the folder of this package is on PYTHONPATH.
"""

import subprocess

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    auto_deploy_default_storage_provider=False,
)


class Executor(RemoteExecutor):
    def run_job(self, job):
        script = self.get_jobscript(job)
        self.write_jobscript(job, script)
        process = subprocess.Popen(["/bin/sh", script])
        self.report_job_submission(SubmittedJobInfo(job, str(process.pid), process))

    async def check_active_jobs(self, active_jobs):
        for info in active_jobs:
            match info.aux.poll():
                case None:
                    yield info
                case 0:
                    self.report_job_success(info)
                case _:
                    self.report_job_error(info)

    def cancel_jobs(self, active_jobs):
        for info in active_jobs:
            info.aux.terminate()
