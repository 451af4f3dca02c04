"""The whole life of a pull request on a laptop: three real ones, played against the hub by the very commands that
workflows run.
"""
