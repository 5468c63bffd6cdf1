"""agentkit"""
